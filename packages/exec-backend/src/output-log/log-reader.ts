import { cutChunk } from "./chunks.js";
import type { OutputChunk } from "./output-chunk.js";

/** A follower without waiting; see `OutputLog.openReader`. */
export interface LogReader {
  /** The next chunk if it is in memory. With `lendsChunks` the one before must not be used any more. */
  next(): OutputChunk | undefined;
  /** Every byte up to the present end of the log was returned, or had been evicted. */
  readonly isAtEnd: boolean;
  /** When `next` returned nothing before the end: reads what is on disk, or skips what was evicted. */
  fetch(): Promise<void>;
  close(): void;
}

/** A position in a log, and how far the log may be ahead of it before its source is paused. */
export interface Follower {
  position: number;
  windowBytes: number;
}

/** The log that is read. */
export interface ReaderSource {
  getEnd(): number;
  /** Chunks in memory from an offset on, about `maxBytes` at most; empty when the offset is not in memory. */
  inMemory(from: number, maxBytes: number): readonly OutputChunk[];
  /** Offset of the next byte in memory. */
  nextInMemory(from: number): number;
  /** Offset after the evicted or skipped range that begins at `from`; `from` if there is none. */
  nextRetained(from: number): number;
  read(from: number, to: number): Promise<{ chunks: readonly OutputChunk[] }>;
  onMoved(): void;
  onClosed(): void;
}

export class RetainedLogReader implements LogReader {
  readonly #source: ReaderSource;
  readonly #follower: Follower;
  readonly #maxBytes: number;
  /** Chunks that `next` returns next: some may have been evicted in the meantime. */
  #chunks: readonly OutputChunk[] = [];
  #next = 0;
  /** Offset after the chunk that `next` returned last. */
  #returnedTo: number;

  constructor(follower: Follower, maxBytes: number, source: ReaderSource) {
    this.#source = source;
    this.#follower = follower;
    this.#maxBytes = maxBytes;
    this.#returnedTo = follower.position;
  }

  get isAtEnd(): boolean {
    return this.#returnedTo >= this.#source.getEnd();
  }

  next(): OutputChunk | undefined {
    const follower = this.#follower;
    for (;;) {
      if (follower.position < this.#returnedTo) {
        follower.position = this.#returnedTo;
        this.#source.onMoved();
      }
      if (this.#next === this.#chunks.length) {
        this.#chunks = this.isAtEnd ? [] : this.#source.inMemory(follower.position, this.#maxBytes);
        this.#next = 0;
      }
      const chunk = this.#chunks[this.#next];
      if (chunk === undefined) return undefined;
      this.#next += 1;
      this.#returnedTo = Math.max(this.#returnedTo, chunk.offset + chunk.bytes.length);
      const cut = cutChunk(chunk, follower.position, this.#source.getEnd());
      if (cut !== undefined) return cut;
    }
  }

  async fetch(): Promise<void> {
    const { position } = this.#follower;
    const retained = this.#source.nextRetained(position);
    if (retained > position) {
      this.#returnedTo = retained;
      return;
    }
    // No more than the window: there may be much more on disk.
    const to = Math.min(this.#source.nextInMemory(position), position + this.#maxBytes);
    this.#chunks = (await this.#source.read(position, to)).chunks;
    this.#next = 0;
    // It was evicted meanwhile, or could not be read: the reader continues after it.
    if (this.#chunks.length === 0) this.#returnedTo = Math.max(position, to, this.#source.nextRetained(position));
  }

  close(): void {
    this.#source.onClosed();
  }
}
