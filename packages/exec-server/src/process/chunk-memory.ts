import { CHUNK_SLAB_BYTES, MAX_FREE_SLABS } from "./limits.js";

/**
 * Memory for the chunks of a host. Each lies alone in a slab, and slabs are used again once a log has let go of what
 * was in them: output that flows leaves nothing to collect.
 */
export class ChunkMemory {
  readonly #free: Buffer[] = [];

  take(): Buffer {
    return this.#free.pop() ?? Buffer.allocUnsafeSlow(CHUNK_SLAB_BYTES);
  }

  /** The first bytes of a slab that was taken, as a chunk. A slab that would be mostly empty is free again. */
  fill(slab: Buffer, used: number): Buffer {
    const bytes = slab.subarray(0, used);
    if (isWorthASlab(used)) return bytes;
    this.#giveBack(slab);
    return Buffer.from(bytes);
  }

  /** A copy as a chunk of at most a slab. */
  copy(bytes: Uint8Array): Buffer {
    if (!isWorthASlab(bytes.length)) return Buffer.from(bytes);
    const slab = this.take();
    slab.set(bytes);
    return slab.subarray(0, bytes.length);
  }

  /** Nobody looks at this chunk any more. */
  release(chunk: Buffer): void {
    if (chunk.buffer.byteLength === CHUNK_SLAB_BYTES && isWorthASlab(chunk.length)) {
      this.#giveBack(Buffer.from(chunk.buffer));
    }
  }

  #giveBack(slab: Buffer): void {
    if (this.#free.length < MAX_FREE_SLABS) this.#free.push(slab);
  }
}

const isWorthASlab = (bytes: number): boolean => bytes > CHUNK_SLAB_BYTES / 2;
