import type { Budget } from "./budget.js";
import { createErrorAt, Fault, RuleFileError } from "./errors.js";
import { evaluateExpression } from "./expressions.js";
import { Frame } from "./frame.js";
import { bindParameters } from "./functions.js";
import { parseProgram } from "./parser.js";
import { resolveScopes, type Scoped, type Scopes } from "./scopes.js";
import { getLocation, type Source } from "./source.js";
import { type Completion, NORMAL, runStatement } from "./statements.js";
import type { Expression, Statement } from "./syntax.js";
import { BuiltinValue, type CallArguments, FunctionValue, getTypeName, type Value } from "./values.js";

/** Runs a file. Whatever is wrong with it, a bound that is hit included, is thrown as a `RuleFileError`. */
export function runProgram(source: Source, builtins: ReadonlyMap<string, Value>, budget: Budget): void {
  const evaluation = new Evaluation(source, budget);
  try {
    evaluation.runAll(builtins);
  } catch (error) {
    throw evaluation.locate(error);
  }
}

/** One run of one file: where it is, what it may still spend, and how calls are made. */
export class Evaluation {
  /** Offset that a `Fault` thrown now belongs to. */
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

  openFrame(scoped: Scoped, parent: Frame): Frame {
    return new Frame(this.scopes?.inner.get(scoped) ?? new Set(), parent);
  }

  call(callee: Value, args: CallArguments): Value {
    const { at } = this;
    if (callee instanceof BuiltinValue) return this.callBuiltin(callee, args, at);
    if (!(callee instanceof FunctionValue))
      throw new Fault(`a value of type \`${getTypeName(callee)}\` cannot be called`);
    this.budget.enterCall();
    this.calls.push(at);
    const frame = this.openFrame(callee.definition, callee.frame);
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

  locate(error: unknown): RuleFileError {
    if (error instanceof RuleFileError) return error;
    const fault = toFault(error);
    const callLines = this.calls.map((at) => getLocation(this.source, at).line);
    const trace = callLines.length === 0 ? "" : ` (called from line ${callLines.slice(0, 5).join(", ")})`;
    return createErrorAt(this.source, this.at, `${fault.problem}${trace}`, fault.advice);
  }
}

/** The JavaScript stack is the last bound; the ones with names are meant to be hit before it. */
function toFault(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (error instanceof RangeError) return new Fault(`evaluation ran out of room: ${error.message}`, "Nest less.");
  throw error;
}
