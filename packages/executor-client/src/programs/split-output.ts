import type { LiveOutput } from "../connection/live-output.js";
import { QUEUED_PIECE_BYTES, UNREAD_OUTPUT_BYTES } from "../limits.js";
import { LiveOutputStream } from "./live-output-stream.js";
import type { OnOutput } from "./tee-output.js";

const NOTHING = Buffer.alloc(0);

/**
 * The output of a program as three streams: all of it, its stdout and its stderr. Each is for one loop. Before a loop has
 * begun 1 MiB is kept, and then the program is held back.
 */
export class SplitOutput {
  readonly #all = new LiveOutputStream();
  readonly #stdout = new LiveOutputStream();
  readonly #stderr = new LiveOutputStream();
  readonly #onOutput: OnOutput | undefined;
  /** Settles when a loop has begun, or nothing is to be held back any more. */
  readonly #begun: Promise<void>;
  #begin = () => {};
  #isBegun = false;
  #keptBytes = 0;

  /** @param onOutput a reader as well: with it the streams hold nothing back before they are read */
  constructor(onOutput: OnOutput | undefined) {
    this.#onOutput = onOutput;
    for (const stream of [this.#all, this.#stdout, this.#stderr]) stream.stopHolding("while read");
    this.#begun = new Promise((resolve) => {
      this.#begin = () => {
        this.#isBegun = true;
        resolve();
      };
    });
    if (onOutput !== undefined) this.#begin();
  }

  get all(): AsyncIterable<LiveOutput> {
    return this.#reading(this.#all);
  }

  get stdout(): AsyncIterable<LiveOutput> {
    return this.#reading(this.#stdout);
  }

  get stderr(): AsyncIterable<LiveOutput> {
    return this.#reading(this.#stderr);
  }

  /** A promise is pending for as long as the piece has to hold back what follows. */
  async push(piece: LiveOutput): Promise<void> {
    this.#keptBytes += piece.bytes.length + QUEUED_PIECE_BYTES;
    if (!this.#isBegun && this.#keptBytes > UNREAD_OUTPUT_BYTES) await this.#begun;
    const [own, other] = piece.stream === "stderr" ? [this.#stderr, this.#stdout] : [this.#stdout, this.#stderr];
    const called = async () => this.#onOutput?.(piece);
    const settled = await Promise.allSettled([
      this.#all.push(piece),
      own.push(piece),
      // What is missing may be output of either stream.
      piece.dropped === undefined ? undefined : other.push({ ...piece, bytes: NOTHING, offset: piece.dropped.to }),
      called(),
    ]);
    for (const one of settled) if (one.status === "rejected") throw one.reason;
  }

  /** From now on only a loop holds the program back; with `never` not even that. */
  stopHolding(hold: "while read" | "never"): void {
    this.#begin();
    for (const stream of [this.#all, this.#stdout, this.#stderr]) stream.stopHolding(hold);
  }

  end(): void {
    for (const stream of [this.#all, this.#stdout, this.#stderr]) stream.end();
  }

  /** The first loop stops the others from holding: they may never be read. */
  #reading(stream: LiveOutputStream): AsyncIterable<LiveOutput> {
    return {
      [Symbol.asyncIterator]: () => {
        this.#begin();
        return stream;
      },
    };
  }
}
