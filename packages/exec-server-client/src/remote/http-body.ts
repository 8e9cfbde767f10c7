import { Fifo } from "@codex/channel";
import { ClientError } from "../errors.js";
import { HTTP_WINDOW_BYTES } from "../limits.js";

/** Buffers a streamed body between the connection and its single reader. */
export class HttpBody implements AsyncIterable<Buffer> {
  readonly #onOver: () => void;
  readonly #signal: AbortSignal | undefined;
  readonly #pieces = new Fifo<Buffer>();
  #bytes = 0;
  #lastSeq = 0;
  /** No chunk will follow. */
  #over = false;
  #error: ClientError | undefined;
  #wakeReader: (() => void) | undefined;
  #capacity: { promise: Promise<void>; resolve: () => void } | undefined;

  /**
   * @param onOver called once when the connection need not deliver more
   * @param signal reading rejects with its reason once it has aborted; the caller that aborts also calls `cancel`
   */
  constructor(onOver: () => void, signal?: AbortSignal) {
    this.#onOver = onOver;
    this.#signal = signal;
  }

  /** Adds a chunk. Returns a promise for room for the next one, or undefined if there is room. */
  push(seq: number, bytes: Buffer): Promise<void> | undefined {
    if (this.#over) return undefined;
    if (seq !== this.#lastSeq + 1) {
      this.fail(
        new ClientError("invalid_response", `piece ${this.#lastSeq + 1} of a streamed body is missing: got ${seq}`),
      );
      return undefined;
    }
    this.#lastSeq = seq;
    if (bytes.length > 0) this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    this.#wake();
    return this.#bytes > HTTP_WINDOW_BYTES ? this.#untilCapacity() : undefined;
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#onOver();
    this.#wake();
  }

  /** The reader gets the chunks that have arrived, then the error. */
  fail(error: ClientError): void {
    if (this.#over) return;
    this.#error = error;
    this.end();
  }

  /** Discards the rest. */
  cancel(): void {
    this.end();
    this.#pieces.clear();
    this.#bytes = 0;
    this.#releaseCapacity();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for (;;) {
        this.#signal?.throwIfAborted();
        const piece = this.#pieces.shift();
        if (piece !== undefined) {
          this.#bytes -= piece.length;
          if (this.#bytes <= HTTP_WINDOW_BYTES) this.#releaseCapacity();
          yield piece;
        } else if (this.#over) {
          if (this.#error !== undefined) throw this.#error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wakeReader = resolve;
          });
        }
      }
    } finally {
      this.cancel();
    }
  }

  #wake(): void {
    this.#wakeReader?.();
    this.#wakeReader = undefined;
  }

  #untilCapacity(): Promise<void> {
    if (this.#capacity === undefined) {
      let resolve!: () => void;
      const promise = new Promise<void>((settle) => {
        resolve = settle;
      });
      this.#capacity = { promise, resolve };
    }
    return this.#capacity.promise;
  }

  #releaseCapacity(): void {
    this.#capacity?.resolve();
    this.#capacity = undefined;
  }
}
