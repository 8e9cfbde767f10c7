import { cleanLine } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import type { ExecutorConnectionLimits } from "../limits.js";

/** A protocol violation by an executor. The message was dropped and had no other effect. */
export interface ProtocolProblem {
  executor: string;
  kind: ProblemKind;
  /** One line, truncated to `problemBytes`. */
  detail: string;
}

/** The kind of problem with an executor's message, or with a callback. */
export type ProblemKind =
  /** A frame that is not JSON or exceeds a limit of the channel. */
  | "malformed"
  /** A known message with a wrong or missing field. */
  | "invalid_message"
  | "unknown_type"
  /** A response or output for a request that was never sent. */
  | "unknown_request"
  | "duplicate_answer"
  /** A response of an unexpected type or for another tool. */
  | "wrong_answer"
  /** An `error` message that names no request. */
  | "unassigned_error"
  | "invalid_output"
  /** Invalid messages of a tunnel to its exec-server. */
  | "invalid_tunnel"
  | "invalid_tool"
  /** A result that contradicts itself or its schema. */
  | "invalid_result"
  /** Not the executor's fault: a callback threw. */
  | "callback_failed"
  | "too_many_problems";

/** The problems of one executor: the latest are kept, all are counted. */
export class ProblemLog {
  readonly #executor: string;
  readonly #limits: ExecutorConnectionLimits;
  readonly #report: ((problem: ProtocolProblem) => void) | undefined;
  readonly #recent: ProtocolProblem[] = [];
  #violations = 0;
  #callbackFailures = 0;
  #onFull: (() => void) | undefined;

  constructor(executor: string, limits: ExecutorConnectionLimits, report?: (problem: ProtocolProblem) => void) {
    this.#executor = executor;
    this.#limits = limits;
    this.#report = report;
  }

  /** Number of violations, and of failed callbacks. */
  get count(): number {
    return this.#violations + this.#callbackFailures;
  }

  get recent(): readonly ProtocolProblem[] {
    return [...this.#recent];
  }

  /** Called once, when `problemsUntilClosed` is reached. */
  whenFull(run: () => void): void {
    this.#onFull = run;
  }

  /** A violation by the executor. */
  note(kind: Exclude<ProblemKind, "callback_failed">, detail: string): void {
    this.#violations++;
    const { problemsUntilClosed } = this.#limits;
    if (this.#violations > problemsUntilClosed) return;
    this.#keep({ executor: this.#executor, kind, detail: cleanLine(detail, this.#limits.problemBytes) });
    if (this.#violations < problemsUntilClosed) return;
    const detailOfLast = `${this.#violations} protocol problems (limit ${problemsUntilClosed}); closing the channel`;
    this.#keep({ executor: this.#executor, kind: "too_many_problems", detail: detailOfLast });
    this.#onFull?.();
  }

  /** An error of a callback on this side: it is reported as often as violations are, and never counts against the executor. */
  #noteCallback(name: string, error: unknown): void {
    this.#callbackFailures++;
    if (this.#callbackFailures > this.#limits.problemsUntilClosed) return;
    const detail = cleanLine(`${name}: ${messageOf(error)}`, this.#limits.problemBytes);
    this.#keep({ executor: this.#executor, kind: "callback_failed", detail });
  }

  /** Runs a callback; exceptions and rejections are recorded as problems and not propagated. */
  guard(name: string, run: () => unknown): void | Promise<void> {
    const failed = (error: unknown) => this.#noteCallback(name, error);
    try {
      const result = run();
      if (isThenable(result)) return Promise.resolve(result).then(() => {}, failed);
    } catch (error) {
      return failed(error);
    }
  }

  #keep(problem: ProtocolProblem): void {
    this.#recent.push(problem);
    if (this.#recent.length > this.#limits.problemsKept) this.#recent.shift();
    try {
      this.#report?.(problem);
    } catch {
      // An exception of the problem reporter cannot be reported.
    }
  }
}

/** Any thenable. */
const isThenable = (value: unknown): value is PromiseLike<unknown> =>
  typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
