import type { OutputChunk } from "./output-chunk.js";

/** A queue of chunks whose front is dropped often; compacted now and then instead of shifted. */
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

  /** Oldest first, after empty entries in place of chunks that were shifted. */
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

/** Takes the place of a shifted chunk, so that its bytes can be collected. */
const EMPTY: OutputChunk = Object.freeze({ seq: 0, stream: "stdout", offset: 0, at: 0, bytes: Buffer.alloc(0) });
