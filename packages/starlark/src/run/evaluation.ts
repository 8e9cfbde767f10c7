import type { Budget } from "../budget.js";
import type { Scoped } from "../syntax/scopes.js";
import type { Expression, Statement } from "../syntax/syntax.js";
import type { CallArguments, Environment, Value } from "../values/values.js";
import type { Frame } from "./frame.js";

/** The state of one run of a file: its current offset, its budget, and the functions that evaluate its parts. */
export interface Evaluation {
  /** Offset reported for a `Fault` thrown at this point. */
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
