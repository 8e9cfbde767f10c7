import type { Clock } from "@codex/clock";
import type { ApprovalAnswer, ApprovalRequest, Approver, ToolCallResult } from "@codex/orchestrator";
import { DECISION_MS, MAX_PARKED_CALLS } from "./limits.js";

/** What a leg of a call came to: its result, or a question for the client, whose answer comes with the next leg. */
export type Leg = { kind: "result"; result: ToolCallResult } | { kind: "question"; request: ApprovalRequest };

/**
 * A call that outlives the requests of its client: each request is a leg of it. What cancels a leg cancels the call only while
 * that leg waits; a question that is answered with a new request leaves the call as it is.
 */
export class ParkedCall implements Approver {
  readonly #clock: Clock;
  readonly #canAsk: () => boolean;
  readonly #abort = new AbortController();
  readonly #result: Promise<ToolCallResult>;
  /** The open question. */
  #question: { request: ApprovalRequest; answer: (answer: ApprovalAnswer) => void } | undefined;
  #wake: (() => void) | undefined;

  /**
   * @param canAsk whether another question may be parked
   * @param start makes the call, with this as its approver
   */
  constructor(
    clock: Clock,
    canAsk: () => boolean,
    start: (approver: Approver, signal: AbortSignal) => Promise<ToolCallResult>,
  ) {
    this.#clock = clock;
    this.#canAsk = canAsk;
    this.#result = start(this, this.#abort.signal);
  }

  get question(): ApprovalRequest | undefined {
    return this.#question?.request;
  }

  /** Resolves when the call is over; never rejects for what a model or an executor did. */
  get result(): Promise<ToolCallResult> {
    return this.#result;
  }

  requestApproval(request: ApprovalRequest, { signal }: { signal: AbortSignal }): Promise<ApprovalAnswer> {
    if (!this.#canAsk()) return Promise.resolve({ decision: "decline", by: "client" });
    return new Promise((resolve) => {
      const settle = (answer: ApprovalAnswer) => {
        stopClock();
        if (this.#question?.request === request) this.#question = undefined;
        resolve(answer);
      };
      const stopClock = this.#clock.after(DECISION_MS, () => settle({ decision: "decline", by: "client" }));
      signal.addEventListener("abort", () => settle("decline"), { once: true });
      this.#question = { request, answer: settle };
      this.#wake?.();
    });
  }

  /** Answers the open question; nothing when there is none any more. */
  answer(answer: ApprovalAnswer): void {
    this.#question?.answer(answer);
  }

  /** Waits for the result or a question. `signal` cancels the call while this waits. */
  async wait(signal: AbortSignal): Promise<Leg> {
    const cancel = () => this.#abort.abort();
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const asked = new Promise<undefined>((resolve) => {
        this.#wake = () => resolve(undefined);
        if (this.#question !== undefined) resolve(undefined);
      });
      const result = await Promise.race([this.#result, asked]);
      if (result !== undefined) return { kind: "result", result };
      const request = this.question;
      return request === undefined ? { kind: "result", result: await this.#result } : { kind: "question", request };
    } finally {
      this.#wake = undefined;
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Gives the call up: nothing more of it is asked or started. */
  cancel(): void {
    this.#abort.abort();
  }
}

/** The calls of one client that wait for its answers, by the id of the approval. */
export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();

  get isFull(): boolean {
    return this.#calls.size >= MAX_PARKED_CALLS;
  }

  /** Until it is taken, or the call is over. */
  park(id: string, call: ParkedCall): void {
    this.#calls.set(id, call);
    const forget = () => {
      if (this.#calls.get(id) === call) this.#calls.delete(id);
    };
    void call.result.then(forget, forget);
  }

  /** The call that waits for the answer to this question; undefined when it does not any more. */
  take(id: string): ParkedCall | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  cancelAll(): void {
    for (const call of this.#calls.values()) call.cancel();
    this.#calls.clear();
  }
}
