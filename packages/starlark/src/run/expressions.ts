import { getAttribute } from "../builtins/attributes.js";
import { Fault } from "../errors.js";
import type {
  Argument,
  CallExpression,
  ComprehensionClause,
  DictComprehension,
  DictEntry,
  Expression,
  FormatPart,
  ListComprehension,
  SliceExpression,
} from "../syntax/syntax.js";
import { applyBinary, applyUnary } from "../values/operators.js";
import { toRepr, toText } from "../values/repr.js";
import { getIndexed, getItems, getSlice, setEntry, withIteration } from "../values/sequences.js";
import { DictValue, isTruthy, ListValue, SLOT_BYTES, TupleValue, type Value } from "../values/values.js";
import { assign, createFunction } from "./bindings.js";
import type { Evaluation } from "./evaluation.js";
import type { Frame } from "./frame.js";

/** The value of one expression; its parts are evaluated through `evaluation`. */
export function evaluateExpression(expression: Expression, frame: Frame, evaluation: Evaluation): Value {
  const { budget } = evaluation;
  const evaluate = (inner: Expression) => evaluation.evaluate(inner, frame);
  switch (expression.kind) {
    case "constant":
      return expression.value;
    case "ellipsis":
      return null;
    case "name":
      return frame.get(expression.name);
    case "format-string":
      return evaluateFormat(expression.parts, frame, evaluation);
    case "list":
    case "tuple": {
      budget.allocate(expression.items.length * SLOT_BYTES);
      const items = expression.items.map(evaluate);
      return expression.kind === "list" ? new ListValue(items) : new TupleValue(items);
    }
    case "dict":
      return evaluateDict(expression.entries, frame, evaluation);
    case "list-comprehension":
    case "dict-comprehension":
      return evaluateComprehension(expression, frame, evaluation);
    case "unary": {
      const operand = evaluate(expression.operand);
      evaluation.at = expression.at;
      return applyUnary(expression.operator, operand);
    }
    case "binary": {
      const left = evaluate(expression.left);
      const right = evaluate(expression.right);
      evaluation.at = expression.at;
      return applyBinary(expression.operator, left, right, budget);
    }
    case "and":
    case "or": {
      const left = evaluate(expression.left);
      return isTruthy(left) === (expression.kind === "and") ? evaluate(expression.right) : left;
    }
    case "conditional":
      return evaluate(isTruthy(evaluate(expression.condition)) ? expression.consequent : expression.alternate);
    case "call":
      return evaluateCall(expression, frame, evaluation);
    case "attribute": {
      const object = evaluate(expression.object);
      evaluation.at = expression.at;
      return getAttribute(object, expression.name);
    }
    case "index": {
      const object = evaluate(expression.object);
      const index = evaluate(expression.index);
      evaluation.at = expression.at;
      return getIndexed(object, index, budget);
    }
    case "slice":
      return evaluateSlice(expression, frame, evaluation);
    case "lambda":
      return createFunction("lambda", expression, frame, evaluation);
  }
}

function evaluateFormat(parts: readonly FormatPart[], frame: Frame, evaluation: Evaluation): string {
  const text = parts
    .map((part) => {
      if (typeof part === "string") return part;
      const value = evaluation.evaluate(part.expression, frame);
      return part.repr ? toRepr(value, evaluation.budget) : toText(value, evaluation.budget);
    })
    .join("");
  evaluation.budget.allocate(text.length);
  return text;
}

function evaluateDict(entries: readonly DictEntry[], frame: Frame, evaluation: Evaluation): DictValue {
  const dict = new DictValue();
  for (const entry of entries) {
    const key = evaluation.evaluate(entry.key, frame);
    const value = evaluation.evaluate(entry.value, frame);
    const { size } = dict.entries;
    evaluation.at = entry.key.at;
    setEntry(dict, key, value, evaluation.budget);
    if (dict.entries.size === size) {
      throw new Fault(`the dict has the key ${toRepr(key, evaluation.budget)} twice`, "Remove one of the entries.");
    }
  }
  return dict;
}

function evaluateComprehension(
  comprehension: ListComprehension | DictComprehension,
  frame: Frame,
  evaluation: Evaluation,
): Value {
  const inside = evaluation.openFrame(comprehension, frame);
  const { budget } = evaluation;
  if (comprehension.kind === "list-comprehension") {
    const items: Value[] = [];
    runClauses(comprehension.clauses, 0, frame, inside, evaluation, () => {
      budget.allocate(SLOT_BYTES);
      items.push(evaluation.evaluate(comprehension.element, inside));
    });
    return new ListValue(items);
  }
  const dict = new DictValue();
  runClauses(comprehension.clauses, 0, frame, inside, evaluation, () => {
    const key = evaluation.evaluate(comprehension.entry.key, inside);
    setEntry(dict, key, evaluation.evaluate(comprehension.entry.value, inside), budget);
  });
  return dict;
}

/** `outside` is where the first iterable is evaluated, `inside` where everything else is. */
function runClauses(
  clauses: readonly ComprehensionClause[],
  index: number,
  outside: Frame,
  inside: Frame,
  evaluation: Evaluation,
  emit: () => void,
): void {
  const clause = clauses[index];
  if (clause === undefined) return emit();
  const runRest = () => runClauses(clauses, index + 1, inside, inside, evaluation, emit);
  if (clause.kind === "if") {
    if (isTruthy(evaluation.evaluate(clause.condition, inside))) runRest();
    return;
  }
  const iterable = evaluation.evaluate(clause.iterable, outside);
  const items = getItems(iterable, evaluation.budget);
  withIteration(iterable, () => {
    for (const item of items) {
      evaluation.budget.spend();
      assign(clause.target, item, inside, evaluation);
      runRest();
    }
  });
}

function evaluateSlice(expression: SliceExpression, frame: Frame, evaluation: Evaluation): Value {
  const evaluate = (inner: Expression | undefined) =>
    inner === undefined ? undefined : evaluation.evaluate(inner, frame);
  const object = evaluation.evaluate(expression.object, frame);
  const bounds = {
    start: evaluate(expression.start),
    stop: evaluate(expression.stop),
    step: evaluate(expression.step),
  };
  evaluation.at = expression.at;
  return getSlice(object, bounds, evaluation.budget);
}

function evaluateCall(expression: CallExpression, frame: Frame, evaluation: Evaluation): Value {
  const callee = evaluation.evaluate(expression.callee, frame);
  const positional: Value[] = [];
  const named = new Map<string, Value>();
  for (const argument of expression.args) {
    addArgument(argument, evaluation.evaluate(argument.value, frame), positional, named, evaluation);
  }
  evaluation.at = expression.at;
  return evaluation.call(callee, { positional, named });
}

function addArgument(
  argument: Argument,
  value: Value,
  positional: Value[],
  named: Map<string, Value>,
  evaluation: Evaluation,
): void {
  evaluation.at = argument.at;
  const setNamed = (name: string, item: Value) => {
    if (named.has(name)) throw new Fault(`the argument \`${name}\` is given twice`);
    named.set(name, item);
  };
  switch (argument.kind) {
    case "positional":
      positional.push(value);
      return;
    case "named":
      return setNamed(argument.name, value);
    case "star":
      for (const item of getItems(value, evaluation.budget)) positional.push(item);
      return;
    case "double-star":
      if (!(value instanceof DictValue)) throw new Fault("**kwargs must be a dict");
      for (const [key, item] of value.entries.values()) {
        if (typeof key !== "string") throw new Fault("the keys of **kwargs must be strings");
        setNamed(key, item);
      }
  }
}
