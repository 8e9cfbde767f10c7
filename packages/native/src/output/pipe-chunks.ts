import { CHUNK_SLAB_BYTES } from "../limits.js";
import { ChunkMemory } from "./chunk-memory.js";

/** Memory for chunks of pipes: slabs of 64 KiB, 128 KiB and so on, up to the largest read. */
export class PipeChunks {
  /** Smallest slabs first. */
  readonly #sizes: readonly ChunkMemory[];
  readonly #largest: ChunkMemory;

  /**
   * @param chunks slabs of `CHUNK_SLAB_BYTES`
   * @param largestBytes the most that one read returns
   */
  constructor(chunks: ChunkMemory, largestBytes: number) {
    const sizes = [chunks];
    for (let bytes = CHUNK_SLAB_BYTES; bytes < largestBytes; ) {
      bytes = Math.min(2 * bytes, largestBytes);
      sizes.push(new ChunkMemory(bytes));
    }
    this.#sizes = sizes;
    this.#largest = sizes.at(-1)!;
  }

  /** A slab of the largest size, to be passed to `fill`. */
  take(): Buffer {
    return this.#largest.take();
  }

  /** Makes a chunk of the first bytes of a slab. If they fit into a smaller one they are copied, and the slab is free again. */
  fill(slab: Buffer, used: number): Buffer {
    const bytes = slab.subarray(0, used);
    const smaller = this.#sizes.find(({ slabBytes }) => used <= slabBytes && slabBytes < slab.length);
    if (smaller === undefined) return bytes;
    const chunk = smaller.copy(bytes);
    this.#largest.release(slab);
    return chunk;
  }

  copy(bytes: Uint8Array): Buffer {
    const memory = this.#sizes.find(({ slabBytes }) => bytes.length <= slabBytes) ?? this.#largest;
    return memory.copy(bytes);
  }

  /** Makes the slab of an unused chunk reusable. Returns false when the chunk is not in a slab. */
  release(chunk: Buffer): boolean {
    return this.#sizes.some((memory) => memory.release(chunk));
  }
}
