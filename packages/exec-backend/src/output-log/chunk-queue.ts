import type { OutputChunk } from "./output-chunk.js";

/** A queue of chunks that is shifted often; the array is compacted only occasionally. */
export class ChunkQueue {
  #chunks: OutputChunk[] = [];
  #first = 0;
  #bytes = 0;

  get size(): number {
    return this.#chunks.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The chunks, oldest first, preceded by empty entries for shifted ones. */
  get chunks(): readonly OutputChunk[] {
    return this.#chunks;
  }

  get oldest(): OutputChunk | undefined {
    return this.#chunks[this.#first];
  }

  push(chunk: OutputChunk): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.bytes.length;
  }

  shift(): OutputChunk {
    const chunk = this.#chunks[this.#first]!;
    this.#chunks[this.#first] = EMPTY;
    this.#first += 1;
    this.#bytes -= chunk.bytes.length;
    if (this.#first > 64 && this.#first * 2 > this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#first);
      this.#first = 0;
    }
    return chunk;
  }

  /** Frees the spare capacity of the array. */
  trim(): void {
    this.#chunks = this.#chunks.slice(this.#first);
    this.#first = 0;
  }
}

/** Replaces a shifted chunk, so that its bytes can be garbage-collected. */
const EMPTY: OutputChunk = Object.freeze({ seq: 0, stream: "stdout", offset: 0, at: 0, bytes: Buffer.alloc(0) });
