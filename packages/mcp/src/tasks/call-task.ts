import type { Clock } from "@codex/clock";
import type { ToolCallResult } from "@codex/orchestrator";
import type { CallToolResult, InputRequest } from "@modelcontextprotocol/server";
import type { ParkedCall } from "../approvals/parked-calls.js";
import { readDecision, toElicitation } from "../approvals/question.js";
import { TASK_POLL_MS, TASK_TTL_MS } from "../limits.js";

/** What every description of a task has. Times are ISO 8601. */
export interface TaskFields {
  taskId: string;
  status: "working" | "input_required" | "completed" | "failed" | "cancelled";
  createdAt: string;
  lastUpdatedAt: string;
  ttlMs: number;
  pollIntervalMs: number;
}

/** A task as `tasks/get` returns it. */
export type DetailedTask = TaskFields &
  Partial<{
    inputRequests: Record<string, InputRequest>;
    result: CallToolResult;
    error: { code: number; message: string };
  }>;

/** What becomes of the result of a task. */
export interface TaskEnding {
  toResult(result: ToolCallResult): CallToolResult;
  /** The client has cancelled the task, and will not see this result. */
  onCancelled(result: ToolCallResult): Promise<void>;
}

/** A call that its client polls instead of waiting for its response. */
export class CallTask {
  readonly id: string;
  readonly #call: ParkedCall;
  readonly #ending: TaskEnding;
  readonly #now: () => string;
  readonly #createdAt: string;
  #lastUpdatedAt: string;
  #lastStatus: TaskFields["status"] = "working";
  #outcome: Pick<DetailedTask, "result" | "error"> | undefined;
  #isCancelled = false;

  constructor(id: string, call: ParkedCall, ending: TaskEnding, clock: Clock) {
    this.id = id;
    this.#call = call;
    this.#ending = ending;
    this.#now = () => new Date(performance.timeOrigin + clock.now()).toISOString();
    this.#createdAt = this.#now();
    this.#lastUpdatedAt = this.#createdAt;
    void this.#follow();
  }

  /** Without the parts that a response which creates a task does not have. */
  describe(): TaskFields {
    const status = this.#status;
    // A change is noticed when the client asks.
    if (status !== this.#lastStatus) this.#lastUpdatedAt = this.#now();
    this.#lastStatus = status;
    return {
      taskId: this.id,
      status,
      createdAt: this.#createdAt,
      lastUpdatedAt: this.#lastUpdatedAt,
      ttlMs: TASK_TTL_MS,
      pollIntervalMs: TASK_POLL_MS,
    };
  }

  detail(): DetailedTask {
    const fields = this.describe();
    const { question } = this.#call;
    if (fields.status === "completed" || fields.status === "failed") return { ...fields, ...this.#outcome };
    if (fields.status !== "input_required" || question === undefined) return fields;
    return { ...fields, inputRequests: { [question.id]: toElicitation(question) } };
  }

  /** Answers the open question; responses to other ones are ignored. */
  update(responses: Record<string, unknown>): void {
    const { question } = this.#call;
    if (question === undefined || !Object.hasOwn(responses, question.id)) return;
    this.#call.answer(readDecision(responses, question.id, question));
  }

  /** Ends the wait, as if its request were cancelled. */
  cancel(): void {
    if (this.#outcome !== undefined) return;
    this.#isCancelled = true;
    this.#call.cancel();
  }

  get #status(): TaskFields["status"] {
    if (this.#isCancelled) return "cancelled";
    if (this.#outcome !== undefined) return this.#outcome.error === undefined ? "completed" : "failed";
    return this.#call.question === undefined ? "working" : "input_required";
  }

  async #follow(): Promise<void> {
    try {
      const result = await this.#call.result;
      if (this.#isCancelled) await this.#ending.onCancelled(result);
      else this.#outcome = { result: this.#ending.toResult(result) };
    } catch {
      this.#outcome = { error: { code: -32_603, message: "the call has failed" } };
    }
  }
}
