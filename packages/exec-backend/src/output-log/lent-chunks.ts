import { MAX_LENT_BYTES } from "../limits.js";
import { ChunkQueue } from "./chunk-queue.js";
import type { LogHost, LogPin } from "./log-host.js";
import type { OutputChunk } from "./output-chunk.js";

interface Reader {
  readonly position: number;
}

/** Chunks that were evicted from a log, oldest first, until every reader has passed them and their memory can be reused. */
export class LentChunks {
  readonly #host: Pick<LogHost, "onDropped">;
  readonly #getFollowers: () => Iterable<Reader> | undefined;
  #pins: Set<Reader> | undefined;
  readonly #waiting = new ChunkQueue();
  /** Chunks up to this one were returned by `read`, whose caller may keep them. */
  #lastSeqRead = 0;

  constructor(host: Pick<LogHost, "onDropped">, getFollowers: () => Iterable<Reader> | undefined) {
    this.#host = host;
    this.#getFollowers = getFollowers;
  }

  /** The chunks up to this one are never reused. */
  noteRead(seq: number): void {
    this.#lastSeqRead = Math.max(this.#lastSeqRead, seq);
    for (let next = this.#waiting.oldest; next !== undefined && next.seq <= seq; next = this.#waiting.oldest) {
      this.#waiting.shift();
    }
  }

  pin(from: number): LogPin {
    const pin = { position: from };
    this.#pins ??= new Set();
    this.#pins.add(pin);
    return {
      move: (position) => {
        pin.position = position;
        this.#reuse();
      },
      release: () => {
        this.#pins?.delete(pin);
        this.#reuse();
      },
      keepAll: () => this.noteRead(Number.POSITIVE_INFINITY),
    };
  }

  add(chunk: OutputChunk): void {
    if (chunk.seq <= this.#lastSeqRead) return;
    this.#waiting.push(chunk);
    this.#reuse();
    // Left to the garbage collector.
    while (this.#waiting.bytes > MAX_LENT_BYTES) this.#waiting.shift();
  }

  #reuse(): void {
    if (this.#waiting.size === 0) return;
    let passed = Number.POSITIVE_INFINITY;
    for (const { position } of this.#getFollowers() ?? []) passed = Math.min(passed, position);
    for (const { position } of this.#pins ?? []) passed = Math.min(passed, position);
    for (let next = this.#waiting.oldest; next !== undefined && endOf(next) <= passed; next = this.#waiting.oldest) {
      this.#waiting.shift();
      this.#host.onDropped(next.bytes);
    }
  }
}

const endOf = ({ offset, bytes }: OutputChunk): number => offset + bytes.length;
