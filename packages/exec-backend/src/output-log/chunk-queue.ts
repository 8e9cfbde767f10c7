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

  /** In order, oldest first, after some that stand for what was dropped and hold no byte. */
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

  /** Gives back what an array keeps for growing. */
  trim(): void {
    this.#chunks = this.#chunks.slice(this.#first);
    this.#first = 0;
  }
}

/** Stands where a dropped chunk was, so that its bytes are freed at once. */
const EMPTY: OutputChunk = Object.freeze({ seq: 0, stream: "stdout", offset: 0, at: 0, bytes: Buffer.alloc(0) });
