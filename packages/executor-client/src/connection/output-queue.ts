import { withRoom } from "@codex/channel";
import type { ByteRange } from "@codex/executor-protocol";
import {
  type ExecutorConnectionLimits,
  JOINED_OUTPUT_BYTES,
  QUEUED_PIECE_BYTES,
  SMALL_OUTPUT_BYTES,
} from "../limits.js";
import type { IncomingOutput } from "./live-output.js";

/** Live output of one call, decoded. */
export interface OutputPiece extends Omit<IncomingOutput, "requestId" | "isContinued"> {
  /** Missing bytes of the session before this piece. */
  dropped?: ByteRange;
}

/** Receives the output of a call. */
export interface OutputListener {
  /** Called when piece `seq` of the session is received; false to skip it. */
  accept(output: IncomingOutput, seq: number): boolean;
  /** Called in order, one at a time; a pending promise delays the next piece. Must not reject. */
  deliver(piece: OutputPiece): void | Promise<void>;
}

/**
 * Queues live output of one call for a listener that may be slow. If nothing is pending, the listener gets
 * it immediately. Nothing is copied, except that small queued pieces are joined.
 */
export class OutputQueue {
  readonly #listener: OutputListener;
  readonly #budget: OutputBudget;
  /** Called when the listener has consumed a piece, or never will. */
  #onTaken: (piece: OutputPiece) => void;
  readonly #waiting: Waiting[] = [];
  /** The piece that the listener is processing. */
  #current: OutputPiece | undefined;
  #processId: number | undefined;
  #bytes = 0;
  #working = false;
  #over = false;
  readonly #drainWatchers: (() => void)[] = [];

  constructor(listener: OutputListener, budget: OutputBudget, onTaken: (piece: OutputPiece) => void) {
    this.#listener = listener;
    this.#budget = budget;
    this.#onTaken = onTaken;
  }

  /** Bytes held in memory, including the overhead of each piece. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The session of the last piece that it got. */
  get processId(): number | undefined {
    return this.#processId;
  }

  get isIdle(): boolean {
    return !this.#working || this.#over;
  }

  accept(output: IncomingOutput, seq: number): boolean {
    return this.#listener.accept(output, seq);
  }

  push(piece: OutputPiece): void {
    this.#processId = piece.processId;
    if (this.#over) return this.#onTaken(piece);
    if (this.#working) return this.#wait(piece);
    const taken = this.#listener.deliver(piece);
    if (taken === undefined) return this.#onTaken(piece);
    this.#working = true;
    this.#hold(sizeOf(piece));
    void this.#work(piece, taken);
  }

  /** Resolves when the listener has consumed everything, or delivery was stopped. */
  drained(): Promise<void> {
    if (this.isIdle) return Promise.resolve();
    return new Promise((resolve) => this.#drainWatchers.push(resolve));
  }

  /** Stops delivery; remaining output counts as consumed. */
  drop(): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#current !== undefined) this.#onTaken(this.#current);
    for (const waiting of this.#waiting.splice(0)) this.#onTaken(join(waiting));
    this.#hold(-this.#bytes);
    this.#notifyDrained();
  }

  /** Stops reporting consumed output. */
  detach(): void {
    this.#onTaken = () => {};
  }

  async #work(first: OutputPiece, taken: Promise<void>): Promise<void> {
    this.#current = first;
    await taken;
    this.#release(first);
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#current = join(next);
      await this.#listener.deliver(this.#current);
      this.#release(this.#current);
    }
    this.#working = false;
    this.#notifyDrained();
  }

  #wait(piece: OutputPiece): void {
    this.#hold(sizeOf(piece));
    const last = this.#waiting.at(-1);
    if (last === undefined || !follows(last, piece)) {
      this.#waiting.push({ piece, length: piece.bytes.length, joined: undefined });
      return;
    }
    this.#hold(-QUEUED_PIECE_BYTES);
    append(last, piece.bytes);
    last.piece = { ...last.piece, seq: piece.seq };
  }

  #release(piece: OutputPiece): void {
    if (this.#over) return;
    this.#current = undefined;
    this.#hold(-sizeOf(piece));
    this.#onTaken(piece);
  }

  #hold(bytes: number): void {
    this.#bytes += bytes;
    this.#budget.add(bytes);
  }

  #notifyDrained(): void {
    for (const notify of this.#drainWatchers.splice(0)) notify();
  }
}

type OutputLimits = Pick<ExecutorConnectionLimits, "queuedOutputBytes" | "queuedOutputBytesInAll">;

/** Bounds the output queued for one executor. */
export class OutputBudget {
  readonly #limits: OutputLimits;
  #bytes = 0;
  #notifyChange = () => {};

  constructor(limits: OutputLimits) {
    this.#limits = limits;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes < 0) this.#notifyChange();
  }

  /** Resolves when a queue, and all queues together, are below their limits; undefined if they already are. */
  waitForRoom(queue: OutputQueue): Promise<void> | undefined {
    return this.#isFull(queue) ? this.#untilRoom(queue) : undefined;
  }

  async #untilRoom(queue: OutputQueue): Promise<void> {
    while (this.#isFull(queue)) {
      await new Promise<void>((resolve) => {
        this.#notifyChange = resolve;
      });
    }
  }

  #isFull(queue: OutputQueue): boolean {
    const { queuedOutputBytes, queuedOutputBytesInAll } = this.#limits;
    return queue.bytes >= queuedOutputBytes || this.#bytes >= queuedOutputBytesInAll;
  }
}

/** A piece, which has the bytes of the pieces joined to it in `joined`, if there are any. */
interface Waiting {
  piece: OutputPiece;
  /** Total bytes. */
  length: number;
  /** May be larger than the bytes in it. */
  joined: Buffer | undefined;
}

function append(waiting: Waiting, bytes: Buffer): void {
  const { joined = waiting.piece.bytes, length } = waiting;
  waiting.length = length + bytes.length;
  waiting.joined = withRoom(joined, length, waiting.length, JOINED_OUTPUT_BYTES);
  waiting.joined.set(bytes, length);
}

function follows({ piece, length }: Waiting, next: OutputPiece): boolean {
  const { stream, offset, bytes, dropped, processId } = next;
  const isSmall = bytes.length <= SMALL_OUTPUT_BYTES && length + bytes.length <= JOINED_OUTPUT_BYTES;
  const isNext = stream === piece.stream && offset === piece.offset + length && processId === piece.processId;
  return isSmall && isNext && dropped === undefined;
}

const join = ({ piece, joined, length }: Waiting): OutputPiece =>
  joined === undefined ? piece : { ...piece, bytes: joined.subarray(0, length) };

const sizeOf = ({ bytes }: OutputPiece): number => bytes.length + QUEUED_PIECE_BYTES;
