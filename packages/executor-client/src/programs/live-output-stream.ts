import type { LiveOutput } from "../connection/live-output.js";
import { QUEUED_PIECE_BYTES, UNREAD_OUTPUT_BYTES } from "../limits.js";

type Result = IteratorResult<LiveOutput, undefined>;

/**
 * Live output of one call for a single `for await` loop.
 *
 * A loop that has begun holds the executor back: a piece is received when the one before it was taken. Before a loop has
 * begun the first piece holds it back as well, until `stopHolding`; from then on as much as fits is kept, and the range of
 * what does not is in `dropped` of the next piece, or of an empty one at the end. Leaving the loop discards the rest.
 */
export class LiveOutputStream implements AsyncIterableIterator<LiveOutput, undefined> {
  readonly #waiting: LiveOutput[] = [];
  readonly #readers: ((result: Result) => void)[] = [];
  /** Total size of the waiting pieces, as `sizeOf` counts it. */
  #bytes = 0;
  /** Stands for the pieces that did not fit. */
  #missing: LiveOutput | undefined;
  #hold: "always" | "while read" | "never" = "always";
  #isRead = false;
  #isEnded = false;
  #isLeft = false;
  #letGo = () => {};

  /** A promise is pending for as long as the piece waits and has to hold back what follows. */
  push(piece: LiveOutput): void | Promise<void> {
    if (this.#isLeft || this.#isEnded) return;
    const holds = this.#hold === "always" || (this.#hold === "while read" && this.#isRead);
    if (!holds && this.#bytes + sizeOf(piece) > UNREAD_OUTPUT_BYTES) return this.#drop(piece);
    this.#add(this.#afterMissing(piece));
    if (!holds || this.#waiting.length === 0) return;
    return new Promise((resolve) => {
      this.#letGo = resolve;
    });
  }

  /** There is no more output. What waits can still be read. */
  end(): void {
    if (this.#isEnded) return;
    this.#flushMissing();
    this.#isEnded = true;
    for (const read of this.#readers.splice(0)) read(DONE);
  }

  /** From now on unread output holds nothing back; with `never` slow reading does not either. */
  stopHolding(hold: "while read" | "never"): void {
    if (this.#hold !== "never") this.#hold = hold;
    if (!this.#isRead || hold === "never") this.#letGo();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Result> {
    this.#isRead = true;
    const piece = this.#waiting.shift();
    if (piece !== undefined) {
      this.#bytes -= sizeOf(piece);
      if (this.#waiting.length === 0) this.#letGo();
      return { done: false, value: piece };
    }
    if (this.#isEnded || this.#isLeft) return DONE;
    return new Promise((resolve) => this.#readers.push(resolve));
  }

  async return(): Promise<Result> {
    this.#isLeft = true;
    this.#waiting.length = 0;
    this.#bytes = 0;
    this.#missing = undefined;
    this.#letGo();
    for (const read of this.#readers.splice(0)) read(DONE);
    return DONE;
  }

  #add(piece: LiveOutput): void {
    const read = this.#readers.shift();
    if (read !== undefined) return read({ done: false, value: piece });
    this.#waiting.push(piece);
    this.#bytes += sizeOf(piece);
  }

  #drop(piece: LiveOutput): void {
    const from = this.#missing?.sessionId === piece.sessionId ? this.#missing.dropped?.from : undefined;
    if (from === undefined) this.#flushMissing();
    const to = piece.offset + piece.bytes.length;
    const dropped = { from: from ?? piece.dropped?.from ?? piece.offset, to };
    this.#missing = { ...piece, bytes: NOTHING, offset: to, dropped };
  }

  /** The piece, with the range that is missing before it. */
  #afterMissing(piece: LiveOutput): LiveOutput {
    const missing = this.#missing;
    if (missing?.dropped === undefined) return piece;
    if (missing.sessionId !== piece.sessionId) this.#flushMissing();
    else this.#missing = undefined;
    return missing.sessionId === piece.sessionId
      ? { ...piece, dropped: { from: missing.dropped.from, to: piece.offset } }
      : piece;
  }

  #flushMissing(): void {
    const missing = this.#missing;
    this.#missing = undefined;
    if (missing !== undefined) this.#add(missing);
  }
}

const DONE = { done: true, value: undefined } as const;
const NOTHING = Buffer.alloc(0);

const sizeOf = ({ bytes }: LiveOutput): number => bytes.length + QUEUED_PIECE_BYTES;
