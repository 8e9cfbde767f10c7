import type { Budget } from "../budget.js";
import { createErrorAt, Fault, StarlarkError } from "../errors.js";
import { getLocation, type Source } from "../source.js";
import { parseProgram } from "../syntax/parse-program.js";
import { resolveScopes, type Scoped, type Scopes } from "../syntax/scopes.js";
import type { Expression, Statement } from "../syntax/syntax.js";
import {
  BuiltinValue,
  type CallArguments,
  type Environment,
  FunctionValue,
  getTypeName,
  type Value,
} from "../values/values.js";
import { bindParameters } from "./bind-parameters.js";
import { type Completion, type Evaluation, NORMAL } from "./evaluation.js";
import { evaluateExpression } from "./expressions.js";
import { Frame } from "./frame.js";
import { runStatement } from "./statements.js";

/** Runs a file. @throws StarlarkError for any problem in it, an exceeded limit included */
export function runProgram(source: Source, builtins: ReadonlyMap<string, Value>, budget: Budget): void {
  const evaluator = new Evaluator(source, budget);
  try {
    evaluator.runAll(builtins);
  } catch (error) {
    throw evaluator.locate(error);
  }
}

class Evaluator implements Evaluation {
  at = 0;
  private readonly calls: number[] = [];
  private scopes: Scopes | undefined;

  constructor(
    readonly source: Source,
    readonly budget: Budget,
  ) {}

  runAll(builtins: ReadonlyMap<string, Value>): void {
    const program = parseProgram(this.source);
    const builtinNames = new Set(builtins.keys());
    this.scopes = resolveScopes(this.source, program, builtinNames);
    const outer = new Frame(builtinNames, undefined);
    for (const [name, value] of builtins) outer.set(name, value);
    this.run(program, new Frame(this.scopes.module, outer));
  }

  run(statements: readonly Statement[], frame: Frame): Completion {
    this.budget.enter();
    let completion = NORMAL;
    for (const statement of statements) {
      this.at = statement.at;
      this.budget.spend();
      completion = runStatement(statement, frame, this);
      if (completion.kind !== "normal") break;
    }
    this.budget.leave();
    return completion;
  }

  evaluate(expression: Expression, frame: Frame): Value {
    this.at = expression.at;
    this.budget.spend();
    this.budget.enter();
    const value = evaluateExpression(expression, frame, this);
    this.budget.leave();
    return value;
  }

  openFrame(scoped: Scoped, parent: Environment): Frame {
    return new Frame(this.scopes?.inner.get(scoped) ?? new Set(), parent);
  }

  call(callee: Value, args: CallArguments): Value {
    const { at } = this;
    if (callee instanceof BuiltinValue) return this.callBuiltin(callee, args, at);
    if (!(callee instanceof FunctionValue))
      throw new Fault(`a value of type \`${getTypeName(callee)}\` cannot be called`);
    this.budget.enterCall();
    this.calls.push(at);
    const frame = this.openFrame(callee.definition, callee.closure);
    bindParameters(callee, args, (name, value) => frame.set(name, value));
    const result = this.runBody(callee, frame);
    this.calls.pop();
    this.budget.leaveCall();
    this.at = at;
    return result;
  }

  private callBuiltin(callee: BuiltinValue, args: CallArguments, at: number): Value {
    const result = callee.run(args, {
      budget: this.budget,
      at,
      call: (inner, innerArgs) => this.call(inner, innerArgs),
    });
    this.at = at;
    return result;
  }

  private runBody(callee: FunctionValue, frame: Frame): Value {
    const { definition } = callee;
    if (definition.kind === "lambda") return this.evaluate(definition.body, frame);
    const completion = this.run(definition.body, frame);
    return completion.kind === "return" ? completion.value : null;
  }

  locate(error: unknown): StarlarkError {
    if (error instanceof StarlarkError) return error;
    const fault = toFault(error);
    const callLines = this.calls.map((at) => getLocation(this.source, at).line);
    const trace = callLines.length === 0 ? "" : ` (called from line ${callLines.slice(0, 5).join(", ")})`;
    return createErrorAt(this.source, this.at, `${fault.problem}${trace}`, fault.advice);
  }
}

/** A `RangeError` is a JavaScript stack overflow; the named limits should be reached before it. */
function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof RangeError) return new Fault(`evaluation ran out of room: ${error.message}`, "Nest less.");
  throw error;
}
