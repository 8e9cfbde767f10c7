import { MAX_FREE_SLAB_BYTES } from "../limits.js";

/**
 * Memory for chunks of output, or for messages with one. Each chunk has its own slab, which is reused when the chunk is
 * released, so that streaming creates little garbage.
 */
export class ChunkMemory {
  readonly slabBytes: number;
  readonly #free: Buffer[] = [];

  constructor(slabBytes: number) {
    this.slabBytes = slabBytes;
  }

  /** A whole slab, to be passed to `fill`. */
  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.slabBytes);
  }

  /** Makes a chunk of the first bytes of a slab. If they fill at most half of it they are copied, and the slab is free again. */
  fill(slab: Buffer, used: number): Buffer {
    const bytes = slab.subarray(0, used);
    if (this.#isWorthASlab(used)) return bytes;
    this.#recycle(slab);
    return Buffer.from(bytes);
  }

  /** Allocates a chunk: in a slab, unless that would be mostly empty or is too small. */
  readonly allocate = (bytes: number): Buffer =>
    this.#isWorthASlab(bytes) ? this.take().subarray(0, bytes) : Buffer.allocUnsafe(bytes);

  copy(bytes: Uint8Array): Buffer {
    const chunk = this.allocate(bytes.length);
    chunk.set(bytes);
    return chunk;
  }

  /** Makes the slab of an unused chunk reusable. Returns false when the chunk is not in a slab of this size. */
  release(chunk: Buffer): boolean {
    const isSlab = chunk.buffer.byteLength === this.slabBytes && this.#isWorthASlab(chunk.length);
    if (isSlab) this.#recycle(Buffer.from(chunk.buffer));
    return isSlab;
  }

  #recycle(slab: Buffer): void {
    if ((this.#free.length + 1) * this.slabBytes <= MAX_FREE_SLAB_BYTES) this.#free.push(slab);
  }

  #isWorthASlab(bytes: number): boolean {
    return bytes > this.slabBytes / 2 && bytes <= this.slabBytes;
  }
}
