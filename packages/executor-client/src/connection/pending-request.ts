import type { Clock } from "@codex/clock";
import type { ExecutorMessage } from "@codex/executor-protocol";
import type { OutputQueue } from "./output-queue.js";
import type { Reply, RequestMessage, ResponseMessage, ResponseType } from "./wire-types.js";

/** Why a request was settled without a response. */
export type Unanswered = Exclude<Reply<never>, { kind: "answer" }>;

export interface PendingOptions<T extends ResponseType> {
  message: RequestMessage;
  responseType: T;
  deadlineMs: number;
  isInstanceBound: boolean;
  /** Its deadline does not start before `resume`. */
  isHeld: boolean;
  clock: Clock;
  output: OutputQueue | undefined;
  /** Called when it is settled; `reply` may still wait for the output listener. */
  onSettled: (reply: Reply<unknown>) => void;
  /** Called when its output is consumed too. */
  onOver: () => void;
}

/** A request with any type of response. */
export type Pending = Pick<
  PendingRequest<ResponseType>,
  | "message"
  | "responseType"
  | "output"
  | "isInstanceBound"
  | "sent"
  | "cancelled"
  | "accept"
  | "settle"
  | "hold"
  | "resume"
>;

/** A request until its reply, which waits until the live output before it is consumed. */
export class PendingRequest<T extends ResponseType> {
  /** Renumbered for another instance of the executor. */
  message: RequestMessage;
  readonly responseType: T;
  readonly isInstanceBound: boolean;
  readonly output: OutputQueue | undefined;
  readonly reply: Promise<Reply<ResponseMessage<T>>>;
  /** It was passed to a channel, and may have arrived. */
  sent = false;
  cancelled = false;
  readonly #options: PendingOptions<T>;
  #resolve!: (reply: Reply<ResponseMessage<T>>) => void;
  #hasHarmlessOutput = false;
  #isOver = false;
  /** The deadline does not wait for the listener. */
  #isUrgent = false;
  #isHeld: boolean;
  #stopClock = () => {};

  constructor(options: PendingOptions<T>) {
    this.#options = options;
    this.message = options.message;
    this.responseType = options.responseType;
    this.isInstanceBound = options.isInstanceBound;
    this.#isHeld = options.isHeld;
    this.output = options.output;
    this.reply = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#startClock();
  }

  /** False if the message is not the expected response. */
  accept(message: ExecutorMessage): boolean {
    if (!this.#isResponse(message)) return false;
    this.#settle({ kind: "answer", message });
    return true;
  }

  settle(reply: Unanswered): void {
    this.#settle(reply);
  }

  /** Replaces the deadline by one that starts now and does not wait for the output listener. */
  expire(ms: number): void {
    if (this.#isOver) return;
    // No response can arrive.
    if (!this.sent) return this.#settle(UNSENT);
    this.#isUrgent = true;
    this.#stopClock();
    this.#stopClock = this.#options.clock.after(ms, () => {
      this.#settle({ kind: "timeout", ms });
      this.output?.drop();
    });
  }

  /** Its deadline does not pass until `resume`; one that was set by `expire` does. */
  hold(): void {
    this.#isHeld = true;
    if (!this.#isUrgent) this.#stopClock();
  }

  /** Starts its deadline anew. */
  resume(): void {
    this.#isHeld = false;
    if (!this.#hasHarmlessOutput && !this.#isUrgent) this.#startClock();
  }

  #startClock(): void {
    if (this.#isHeld) return;
    const { clock, deadlineMs: ms } = this.#options;
    this.#stopClock = clock.after(ms, () => void this.#endDeadline(ms));
  }

  /** Back-pressure of a slow listener may keep an executor from responding. */
  async #endDeadline(ms: number): Promise<void> {
    if (!this.sent) return this.#settle({ ...UNSENT, reason: `it was not reached again within ${ms} ms` });
    if (this.output === undefined || this.output.isIdle) return this.#settle({ kind: "timeout", ms });
    await this.output.drained();
    if (!this.#hasHarmlessOutput && !this.#isUrgent) this.#startClock();
  }

  #settle(reply: Reply<ResponseMessage<T>>): void {
    if (this.#hasHarmlessOutput) return;
    this.#hasHarmlessOutput = true;
    if (!this.#isUrgent) this.#stopClock();
    this.#options.onSettled(reply);
    if (this.output === undefined || this.output.isIdle) return this.#end(reply);
    void this.output.drained().then(() => this.#end(reply));
  }

  #end(reply: Reply<ResponseMessage<T>>): void {
    this.#isOver = true;
    this.#stopClock();
    this.#options.onOver();
    this.#resolve(reply);
  }

  #isResponse(message: ExecutorMessage): message is ResponseMessage<T> {
    return message.type === this.responseType;
  }
}

const UNSENT = { kind: "unsent", reason: "it was not reached again yet", cause: "unreached" } as const;
