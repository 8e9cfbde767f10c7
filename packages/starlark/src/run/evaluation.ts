import type { Budget } from "../budget.js";
import type { Scoped } from "../syntax/scopes.js";
import type { Expression, Statement } from "../syntax/syntax.js";
import type { CallArguments, Environment, Value } from "../values/values.js";
import type { Frame } from "./frame.js";

/** One run of one file: where it is, what it may still spend, and how its parts are evaluated. */
export interface Evaluation {
  /** Offset that a `Fault` thrown now belongs to. */
  at: number;
  readonly budget: Budget;
  run(statements: readonly Statement[], frame: Frame): Completion;
  evaluate(expression: Expression, frame: Frame): Value;
  call(callee: Value, args: CallArguments): Value;
  /** A frame for the variables of `scoped`. */
  openFrame(scoped: Scoped, parent: Environment): Frame;
}

/** How a run of statements ended. */
export type Completion =
  | { readonly kind: "normal" | "break" | "continue" }
  | { readonly kind: "return"; readonly value: Value };

export const NORMAL: Completion = { kind: "normal" };
