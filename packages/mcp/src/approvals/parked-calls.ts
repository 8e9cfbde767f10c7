import { type Clock, waitAtMost } from "@codex/clock";
import {
  type ApprovalAnswer,
  type ApprovalRequest,
  type Approver,
  type LiveOutput,
  OrchestratorError,
  type ToolCallResult,
} from "@codex/orchestrator";
import { DECISION_MS, MAX_PARKED_CALLS } from "../limits.js";

/** The outcome of one leg of a call: its result, a question for the client, whose answer comes with the next leg, or neither in time. */
export type Leg =
  | { kind: "result"; result: ToolCallResult }
  | { kind: "question"; request: ApprovalRequest }
  | { kind: "held" };

/**
 * A call that spans several requests of its client: each request is a leg of it. Cancelling a leg cancels the call only while
 * that leg waits, not after it has returned a question.
 */
export class ParkedCall implements Approver {
  readonly #clock: Clock;
  readonly #openQuestion: () => (() => void) | undefined;
  readonly #abort = new AbortController();
  readonly #result: Promise<ToolCallResult>;
  /** Open questions; the first one is asked, and the others after it: programs that the call starts may ask several at once. */
  readonly #questions: { request: ApprovalRequest; answer: (answer: ApprovalAnswer) => void }[] = [];
  #isOver = false;
  #wake: (() => void) | undefined;
  /** Receives the live output, if the call was started with it. */
  onOutput: (output: LiveOutput) => void = () => {};

  /**
   * @param openQuestion `ParkedCalls.openQuestion`
   * @param start starts the call, with this as its approver
   */
  constructor(
    clock: Clock,
    openQuestion: () => (() => void) | undefined,
    start: (approver: Approver, signal: AbortSignal, onOutput: (output: LiveOutput) => void) => Promise<ToolCallResult>,
  ) {
    this.#clock = clock;
    this.#openQuestion = openQuestion;
    this.#result = start(this, this.#abort.signal, (output) => this.onOutput(output));
    const end = () => {
      this.#isOver = true;
    };
    this.#result.then(end, end);
  }

  get question(): ApprovalRequest | undefined {
    return this.#questions[0]?.request;
  }

  /** Resolves when the call is over; errors of the model or an executor are results, not rejections. */
  get result(): Promise<ToolCallResult> {
    return this.#result;
  }

  requestApproval(request: ApprovalRequest, { signal }: { signal: AbortSignal }): Promise<ApprovalAnswer> {
    // There is no request of the client in whose response it could be asked.
    if (this.#isOver) return Promise.reject(new OrchestratorError("no_approver", CALL_OVER));
    const close = this.#openQuestion();
    if (close === undefined) return Promise.reject(new OrchestratorError("no_approver", TOO_MANY_QUESTIONS));
    return new Promise((resolve) => {
      const settle = (answer: ApprovalAnswer) => {
        stopClock();
        close();
        const index = this.#questions.findIndex((question) => question.request === request);
        if (index >= 0) this.#questions.splice(index, 1);
        resolve(answer);
      };
      const stopClock = this.#clock.after(DECISION_MS, () => settle({ decision: "decline", by: "client" }));
      signal.addEventListener("abort", () => settle("decline"), { once: true });
      this.#questions.push({ request, answer: settle });
      this.#wake?.();
    });
  }

  /** Answers the open question, if there still is one. */
  answer(answer: ApprovalAnswer): void {
    this.#questions[0]?.answer(answer);
  }

  /** Waits for the result or a question, for at most `holdMs`. `signal` cancels the call while this waits. */
  async wait(signal: AbortSignal, holdMs?: number): Promise<Leg> {
    const cancel = () => this.#abort.abort();
    if (signal.aborted) cancel();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const asked = new Promise<undefined>((resolve) => {
        this.#wake = () => resolve(undefined);
        if (this.#questions.length > 0) resolve(undefined);
      });
      const first = Promise.race([this.#result, asked.then(() => "asked" as const)]);
      const result = await (holdMs === undefined ? first : waitAtMost(this.#clock, holdMs, first));
      if (result === undefined) return { kind: "held" };
      if (result !== "asked") return { kind: "result", result };
      const request = this.question;
      return request === undefined ? await this.wait(signal, holdMs) : { kind: "question", request };
    } finally {
      this.#wake = undefined;
      signal.removeEventListener("abort", cancel);
    }
  }

  /** Aborts the call: it asks and starts nothing more. */
  cancel(): void {
    this.#abort.abort();
  }
}

const CALL_OVER = "the call that started it has ended, and its client is asked during its calls only";
const TOO_MANY_QUESTIONS = `too many calls of this client wait for approval (limit ${MAX_PARKED_CALLS} calls)`;

/** The calls of one client that wait for answers, by approval id. */
export class ParkedCalls {
  readonly #calls = new Map<string, ParkedCall>();
  #questions = 0;

  /** Counts a question until the returned function is called; undefined if there are too many. */
  openQuestion(): (() => void) | undefined {
    if (this.#questions >= MAX_PARKED_CALLS) return undefined;
    this.#questions += 1;
    let isOpen = true;
    return () => {
      if (isOpen) this.#questions -= 1;
      isOpen = false;
    };
  }

  /** Keeps a call until it is taken or over. */
  park(id: string, call: ParkedCall): void {
    this.#calls.set(id, call);
    const forget = () => {
      if (this.#calls.get(id) === call) this.#calls.delete(id);
    };
    void call.result.then(forget, forget);
  }

  /** Removes and returns the call that waits for the answer to this question; undefined if none does. */
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
