import type { AugmentedAssignment, ForStatement, IfStatement, Statement } from "../syntax/syntax.js";
import { applyBinary } from "../values/operators.js";
import { copyItems, getIndexed, getItems, setEntry, setIndexed, withIteration } from "../values/sequences.js";
import { DictValue, isTruthy, ListValue, type Value } from "../values/values.js";
import { assign, createFunction } from "./bindings.js";
import { type Completion, type Evaluation, NORMAL } from "./evaluation.js";
import type { Frame } from "./frame.js";

export function runStatement(statement: Statement, frame: Frame, evaluation: Evaluation): Completion {
  switch (statement.kind) {
    case "expression":
      evaluation.evaluate(statement.expression, frame);
      return NORMAL;
    case "assign":
      assign(statement.target, evaluation.evaluate(statement.value, frame), frame, evaluation);
      return NORMAL;
    case "augmented-assign":
      runAugmented(statement, frame, evaluation);
      return NORMAL;
    case "if":
      return runIf(statement, frame, evaluation);
    case "for":
      return runFor(statement, frame, evaluation);
    case "def":
      frame.set(statement.name, createFunction(statement.name, statement, frame, evaluation));
      return NORMAL;
    case "return": {
      const { value } = statement;
      return { kind: "return", value: value === undefined ? null : evaluation.evaluate(value, frame) };
    }
    case "pass":
      return NORMAL;
    default:
      return { kind: statement.kind };
  }
}

function runIf(statement: IfStatement, frame: Frame, evaluation: Evaluation): Completion {
  for (const { condition, body } of statement.branches) {
    if (isTruthy(evaluation.evaluate(condition, frame))) return evaluation.run(body, frame);
  }
  return evaluation.run(statement.otherwise, frame);
}

function runFor(statement: ForStatement, frame: Frame, evaluation: Evaluation): Completion {
  const iterable = evaluation.evaluate(statement.iterable, frame);
  let completion = NORMAL;
  evaluation.at = statement.iterable.at;
  const items = getItems(iterable, evaluation.budget);
  withIteration(iterable, () => {
    for (const item of items) {
      evaluation.budget.spend();
      assign(statement.target, item, frame, evaluation);
      completion = evaluation.run(statement.body, frame);
      if (completion.kind === "break" || completion.kind === "return") break;
    }
  });
  return completion.kind === "return" ? completion : NORMAL;
}

function runAugmented(statement: AugmentedAssignment, frame: Frame, evaluation: Evaluation): void {
  const { target } = statement;
  const place = readPlace(target, frame, evaluation);
  const value = evaluation.evaluate(statement.value, frame);
  evaluation.at = statement.at;
  place.write(applyInPlace(statement.operator, place.read(), value, evaluation));
}

interface Place {
  read(): Value;
  write(value: Value): void;
}

function readPlace(target: AugmentedAssignment["target"], frame: Frame, evaluation: Evaluation): Place {
  if (target.kind === "name") {
    return { read: () => frame.get(target.name), write: (value) => frame.set(target.name, value) };
  }
  const object = evaluation.evaluate(target.object, frame);
  const index = evaluation.evaluate(target.index, frame);
  const { budget } = evaluation;
  return {
    read: () => getIndexed(object, index, budget),
    write: (value) => setIndexed(object, index, value, budget),
  };
}

/** `+=` on a list and `|=` on a dict change the collection itself. */
function applyInPlace(
  operator: AugmentedAssignment["operator"],
  left: Value,
  right: Value,
  { budget }: Evaluation,
): Value {
  if (operator === "+" && left instanceof ListValue) {
    const added = copyItems(right, budget);
    left.checkMutable();
    for (const item of added) left.items.push(item);
    return left;
  }
  if (operator === "|" && left instanceof DictValue && right instanceof DictValue) {
    for (const [key, value] of right.entries.values()) setEntry(left, key, value, budget);
    return left;
  }
  return applyBinary(operator, left, right, budget);
}
