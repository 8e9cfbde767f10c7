import { CHUNK_SLAB_BYTES } from "../limits.js";
import type { ReadMemory } from "./read-memory.js";

/**
 * The buffer of a pipe for its next read. Small reads share one buffer of the host and are copied out of it. A read of more
 * than half of that is followed by one into a slab, which becomes the chunk without being copied.
 */
export class PipeBuffer {
  readonly #memory: ReadMemory;
  #slab: Buffer | undefined;
  #isLarge = false;

  constructor(memory: ReadMemory) {
    this.#memory = memory;
  }

  next(): Buffer {
    if (!this.#isLarge) {
      this.release();
      return this.#memory.pipeBuffer;
    }
    this.#slab ??= this.#memory.largeChunks.take();
    return this.#slab;
  }

  /** The chunk of a read into the buffer that `next` returned last. */
  take(into: Buffer, size: number): Buffer {
    const { chunks, largeChunks } = this.#memory;
    this.#isLarge = size > into.length / 2;
    const bytes = into.subarray(0, size);
    if (!this.#isLarge || into !== this.#slab) return (size > CHUNK_SLAB_BYTES ? largeChunks : chunks).copy(bytes);
    this.#slab = undefined;
    return bytes;
  }

  /** Returns an unused slab. */
  release(): void {
    if (this.#slab !== undefined) this.#memory.largeChunks.release(this.#slab);
    this.#slab = undefined;
  }
}
