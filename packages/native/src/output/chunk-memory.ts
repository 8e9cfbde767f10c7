import { MAX_FREE_SLAB_BYTES } from "../limits.js";

/**
 * Memory for chunks of output, or for messages that hold one. Each lies alone in a slab, and slabs are used again once
 * what was in them is released: output that flows leaves little to collect.
 */
export class ChunkMemory {
  readonly #slabBytes: number;
  readonly #free: Buffer[] = [];

  constructor(slabBytes: number) {
    this.#slabBytes = slabBytes;
  }

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#slabBytes);
  }

  /** The first bytes of a slab that was taken, as a chunk. A slab that would be mostly empty is free again. */
  fill(slab: Buffer, used: number): Buffer {
    const bytes = slab.subarray(0, used);
    if (this.#isWorthASlab(used)) return bytes;
    this.#giveBack(slab);
    return Buffer.from(bytes);
  }

  /** Room for that many bytes: in a slab, unless it would be mostly empty or is too small. */
  readonly allocate = (bytes: number): Buffer =>
    this.#isWorthASlab(bytes) ? this.take().subarray(0, bytes) : Buffer.allocUnsafe(bytes);

  copy(bytes: Uint8Array): Buffer {
    const chunk = this.allocate(bytes.length);
    chunk.set(bytes);
    return chunk;
  }

  /** Nobody looks at this chunk any more. */
  release(chunk: Buffer): void {
    if (chunk.buffer.byteLength === this.#slabBytes && this.#isWorthASlab(chunk.length)) {
      this.#giveBack(Buffer.from(chunk.buffer));
    }
  }

  #giveBack(slab: Buffer): void {
    if ((this.#free.length + 1) * this.#slabBytes <= MAX_FREE_SLAB_BYTES) this.#free.push(slab);
  }

  #isWorthASlab(bytes: number): boolean {
    return bytes > this.#slabBytes / 2 && bytes <= this.#slabBytes;
  }
}
