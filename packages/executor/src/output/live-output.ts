import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@codex/clock";
import type { OutputChunk, OutputLog } from "@codex/exec-backend";
import type { OutputStream } from "@codex/executor-protocol";
import { Unwritten } from "./unwritten.js";
import { getIncompleteTail } from "./utf8.js";

/** One piece of live output. `offset` is that of its first byte in the session's log, `seq` counts pieces from 1. */
export interface OutputDelta {
  requestId: string;
  processId: number;
  seq: number;
  offset: number;
  stream: OutputStream;
  bytes: Buffer;
}

/** Where live output is sent. */
export interface LiveReceiver {
  /**
   * Rejects when the channel has ended; until then it resolves when there is room for the next one. `onWritten` is called once
   * the bytes are no longer read, if the receiver can know that.
   */
  sendOutput(delta: OutputDelta, onWritten: () => void): Promise<void>;
  /** After a rejection: true once there is another channel, false when there will be none or `signal` has aborted. */
  recover(error: unknown, signal: AbortSignal): Promise<boolean>;
  /** Whether it acknowledges what it has received. */
  readonly acknowledges: boolean;
  /** Most bytes of one `sendOutput`. */
  readonly maxDeltaBytes: number;
  /** Whether it calls `onWritten` for everything that was sent. */
  readonly reportsWritten: boolean;
}

export interface LiveOptions {
  log: OutputLog;
  processId: number;
  receiver: LiveReceiver;
  /** Bytes that may be in flight to a receiver that acknowledges; may change. */
  getWindow: () => number;
  /** The log reuses the memory of its chunks, which must not happen before they are written. */
  pinsUnwritten?: boolean;
  /** Called when more is known to have been received. */
  onReceived?: () => void;
}

/** An abort reason: creating the default one, with its stack, would cost more than the wait it ends. */
const ENOUGH = "enough";

export type Piece = Pick<OutputChunk, "stream" | "offset" | "bytes">;

/** Output being sent on behalf of one call. */
interface Delivery {
  requestId: string;
  /** It was sent before: comes before anything new. */
  isReplay: boolean;
  /** Nothing at or after this offset is sent. */
  limit: number;
  /** The beginning of a character whose rest is still to come. */
  held: Piece | undefined;
  stopped: boolean;
  /** Ends the present attempt. */
  attempt: AbortController;
  ended: Promise<void>;
  end: () => void;
}

interface Attempt {
  delivery: Delivery;
  signal: AbortSignal;
  generation: number;
}

/**
 * Live output of one session: whatever call waits, each byte is sent once, from byte 0 on. While a call waits, a slow
 * receiver holds the process back; what comes between two calls is sent by the next. Where a channel was lost, output
 * continues over the next one, behind what was received.
 */
export class LiveOutputSender {
  readonly #options: LiveOptions;
  /** One at a time, in this order. */
  readonly #deliveries: Delivery[] = [];
  /** Continues the present attempt. */
  #resume: (() => void) | undefined;
  /** Called with the next piece. */
  readonly #nextListeners = new Set<() => void>();
  #offset = 0;
  #acknowledged = 0;
  /** Evicted ranges between the two offsets: never sent, so not in flight. */
  #gaps: { from: number; to: number }[] = [];
  #seq = 0;
  #unwritten: Unwritten | undefined;
  /** Counts rewinds: an attempt of an earlier generation starts over. */
  #generation = 0;
  #working = false;

  constructor(options: LiveOptions) {
    this.#options = options;
    if (options.pinsUnwritten === true) this.#unwritten = new Unwritten(options.log);
  }

  /** Offset up to which it was received, as far as that can be known. */
  get received(): number {
    return this.#options.receiver.acknowledges ? this.#acknowledged : this.#offset;
  }

  /** Whether there was anything to send. */
  get hasSent(): boolean {
    return this.#seq > 0;
  }

  /** Number of pieces that were sent. */
  get sentPieces(): number {
    return this.#seq;
  }

  /** Resolves in the turn of the loop after piece number `pieces` + 1 was sent, at the latest after so many milliseconds. */
  waitForNext(clock: Clock, ms: number, pieces: number): Promise<void> {
    // The channel joins what is sent within a turn.
    if (this.#seq > pieces) return nextTurn();
    return new Promise((resolve) => {
      const done = () => {
        this.#nextListeners.delete(done);
        stopClock();
        resolve(nextTurn());
      };
      const stopClock = clock.after(ms, done);
      this.#nextListeners.add(done);
    });
  }

  /** Follows for one call, until `finish` or `stop`. Calls of one session follow one after the other. */
  follow(requestId: string): LiveFollower {
    const delivery = this.#add({ requestId, isReplay: false, limit: Number.POSITIVE_INFINITY });
    const stop = () => {
      delivery.stopped = true;
      delivery.attempt.abort(ENOUGH);
    };
    return {
      finish: (to) => {
        delivery.limit = to;
        if (this.#isDone(delivery)) stop();
        // There may be nothing to send before the limit.
        this.#wake();
        return delivery.ended;
      },
      stop: () => {
        delivery.limit = 0;
        stop();
        return delivery.ended;
      },
    };
  }

  /** Sends what a call has sent already, up to an offset, once more. Resolves when it was, or never can be. */
  replay(requestId: string, to: number): Promise<void> {
    if (this.#offset >= to) return Promise.resolve();
    return this.#add({ requestId, isReplay: true, limit: to }).ended;
  }

  /** The receiver has everything before this offset. */
  acknowledge(offset: number): void {
    if (offset <= this.#acknowledged) return;
    this.#acknowledged = Math.min(offset, this.#offset);
    if (this.#gaps.length > 0) this.#gaps = this.#gaps.filter(({ to }) => to > this.#acknowledged);
    this.#notifyReceived();
  }

  /** After a resume: continues from this offset, by default from what was acknowledged. */
  rewind(offset = this.#acknowledged): void {
    this.#offset = Math.min(offset, this.#offset);
    this.#acknowledged = this.#offset;
    this.#gaps = [];
    this.#unwritten?.rewind(this.#offset);
    this.#generation += 1;
    this.#deliveries[0]?.attempt.abort(ENOUGH);
    this.#notifyReceived();
  }

  #add(start: Pick<Delivery, "requestId" | "isReplay" | "limit">): Delivery {
    let end!: () => void;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const delivery: Delivery = {
      ...start,
      held: undefined,
      stopped: false,
      attempt: new AbortController(),
      ended,
      end,
    };
    const behind = start.isReplay ? this.#deliveries.filter(({ isReplay }) => isReplay) : this.#deliveries;
    this.#deliveries.splice(behind.length, 0, delivery);
    if (!this.#working) void this.#work();
    return delivery;
  }

  async #work(): Promise<void> {
    this.#working = true;
    this.#unwritten?.begin(this.#offset);
    for (let [first] = this.#deliveries; first !== undefined; [first] = this.#deliveries) {
      const generation = this.#generation;
      const goesOn = await this.#attempt(first);
      if (!first.stopped && (goesOn || generation !== this.#generation)) continue;
      this.#deliveries.splice(this.#deliveries.indexOf(first), 1);
      first.end();
    }
    this.#working = false;
    this.#unwritten?.finish();
  }

  /** True when the channel was lost in the meantime, and there is another. Never rejects. */
  async #attempt(delivery: Delivery): Promise<boolean> {
    delivery.held = undefined;
    if (delivery.stopped || this.#isDone(delivery)) return false;
    delivery.attempt = new AbortController();
    const { signal } = delivery.attempt;
    try {
      await this.#pump(delivery, signal);
      return false;
    } catch (error) {
      return this.#options.receiver.recover(error, signal);
    }
  }

  async #pump(delivery: Delivery, signal: AbortSignal): Promise<void> {
    const generation = this.#generation;
    const { log } = this.#options;
    const attempt = { delivery, signal, generation };
    const reader = log.openReader({ from: this.#offset, onChange: this.#wake });
    signal.addEventListener("abort", this.#wake, { once: true });
    try {
      while (!signal.aborted) {
        const chunk = reader.next();
        if (chunk === undefined) {
          if (!reader.isAtEnd) await reader.fetch();
          else if (log.complete || log.end >= delivery.limit) break;
          else await this.#changed();
          continue;
        }
        const { held } = delivery;
        const piece = joinPieces(held, chunk);
        delivery.held = undefined;
        if (held !== undefined && piece === chunk) await this.#send(held, attempt);
        const whole = piece.bytes.length - getIncompleteTail(piece.bytes);
        await this.#send(cutPiece(piece, 0, whole), attempt);
        if (whole < piece.bytes.length) delivery.held = cutPiece(piece, whole, piece.bytes.length);
        if (generation !== this.#generation || this.#isDone(delivery)) break;
      }
    } finally {
      reader.close();
      signal.removeEventListener("abort", this.#wake);
    }
    const { held } = delivery;
    if (held !== undefined && held.offset + held.bytes.length <= delivery.limit) await this.#send(held, attempt);
  }

  /** In parts that the receiver takes, cut between characters where there is a place; ends at the limit, which may move in the meantime. */
  async #send(piece: Piece, { delivery, signal, generation }: Attempt): Promise<void> {
    const { processId, receiver } = this.#options;
    const { length } = piece.bytes;
    for (let at = 0; at < length && piece.offset + at < delivery.limit; ) {
      while (!this.#hasRoom && !signal.aborted) await this.#changed();
      if (generation !== this.#generation || piece.offset + at >= delivery.limit) return;
      const part = cutPiece(piece, at, findCut(piece.bytes, at, receiver.maxDeltaBytes));
      at += part.bytes.length;
      this.#seq += 1;
      const written = this.#noteUnwritten(part);
      const sent = receiver.sendOutput({ requestId: delivery.requestId, processId, seq: this.#seq, ...part }, written);
      if (part.offset > this.#offset) this.#gaps.push({ from: this.#offset, to: part.offset });
      // It is in flight, and may be acknowledged before `sent` resolves.
      this.#offset = part.offset + part.bytes.length;
      for (const listener of this.#nextListeners) listener();
      await sent;
      if (!receiver.acknowledges) this.#options.onReceived?.();
    }
  }

  #noteUnwritten({ offset, bytes }: Piece): () => void {
    if (this.#unwritten === undefined) return ignore;
    if (this.#options.receiver.reportsWritten) return this.#unwritten.add(offset, offset + bytes.length);
    this.#unwritten.keepAll();
    this.#unwritten = undefined;
    return ignore;
  }

  /** Whether more may be in flight. */
  get #hasRoom(): boolean {
    const { receiver, getWindow } = this.#options;
    return !receiver.acknowledges || this.#inFlight < getWindow();
  }

  /** Bytes that were sent and not acknowledged. */
  get #inFlight(): number {
    if (this.#gaps.length === 0) return this.#offset - this.#acknowledged;
    const gone = this.#gaps.reduce((sum, { from, to }) => sum + to - Math.max(from, this.#acknowledged), 0);
    return this.#offset - this.#acknowledged - gone;
  }

  /** Resolves when there is more output, room or nothing more to do. Only the present attempt waits. */
  #changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  readonly #wake = (): void => {
    this.#resume?.();
    this.#resume = undefined;
  };

  #notifyReceived(): void {
    this.#wake();
    this.#options.onReceived?.();
  }

  #isDone({ limit, held }: Delivery): boolean {
    return (held === undefined ? this.#offset : held.offset + held.bytes.length) >= limit;
  }
}

const ignore = (): void => {};

export interface LiveFollower {
  /** Resolves when everything up to this offset was sent, or nothing can be sent any more. Sends nothing beyond it. */
  finish(to: number): Promise<void>;
  /** Sends nothing further; what was not sent is left to the next call. */
  stop(): Promise<void>;
}

/** The chunk with what was held of its stream in front; the chunk itself when that does not belong together. */
function joinPieces(held: Piece | undefined, chunk: OutputChunk): Piece {
  if (held === undefined || held.stream !== chunk.stream || held.offset + held.bytes.length !== chunk.offset) {
    return chunk;
  }
  return { stream: held.stream, offset: held.offset, bytes: Buffer.concat([held.bytes, chunk.bytes]) };
}

/** Where a part ends that begins at `at`: at most so many bytes further, between characters where there is a place. */
function findCut(bytes: Buffer, at: number, maxBytes: number): number {
  if (bytes.length - at <= maxBytes) return bytes.length;
  return at + maxBytes - getIncompleteTail(bytes.subarray(at, at + maxBytes));
}

const cutPiece = ({ stream, offset, bytes }: Piece, from: number, to: number): Piece => ({
  stream,
  offset: offset + from,
  bytes: from === 0 && to === bytes.length ? bytes : bytes.subarray(from, to),
});
