import { Fault } from "../errors.js";
import type { Target } from "../syntax/syntax.js";
import { setIndexed } from "../values/sequences.js";
import { FunctionValue, getTypeName, ListValue, TupleValue, type Value } from "../values/values.js";
import type { Evaluation } from "./evaluation.js";
import type { Frame } from "./frame.js";

/** A function with `frame` as its closure. Its defaults are evaluated once, here. */
export function createFunction(
  name: string,
  definition: FunctionValue["definition"],
  frame: Frame,
  evaluation: Evaluation,
): FunctionValue {
  const defaults = definition.parameters.map(({ fallback }) =>
    fallback === undefined ? undefined : evaluation.evaluate(fallback, frame),
  );
  return new FunctionValue(name, definition, defaults, frame);
}

/** Binds the names of `target`, or changes the collection it points into. */
export function assign(target: Target, value: Value, frame: Frame, evaluation: Evaluation): void {
  switch (target.kind) {
    case "name":
      return frame.set(target.name, value);
    case "index": {
      const object = evaluation.evaluate(target.object, frame);
      const index = evaluation.evaluate(target.index, frame);
      evaluation.at = target.at;
      return setIndexed(object, index, value, evaluation.budget);
    }
    case "unpack":
      return unpack(target.targets, value, frame, evaluation);
  }
}

function unpack(targets: readonly Target[], value: Value, frame: Frame, evaluation: Evaluation): void {
  if (!(value instanceof ListValue || value instanceof TupleValue)) {
    throw new Fault(`a value of type \`${getTypeName(value)}\` cannot be unpacked`, "Unpack a list or a tuple.");
  }
  if (value.items.length !== targets.length) {
    throw new Fault(`${value.items.length} values are unpacked into ${targets.length} names`);
  }
  targets.forEach((target, index) => {
    assign(target, value.items[index] ?? null, frame, evaluation);
  });
}
