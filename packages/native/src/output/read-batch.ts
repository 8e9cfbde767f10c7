import { CHUNK_SLAB_BYTES } from "../limits.js";
import type { ByteSink } from "./byte-source.js";
import { type ReadMemory, TERMINAL_READ_BYTES } from "./read-memory.js";

/** Joins the small reads of one turn of the event loop into one chunk, without adding a delay. */
export class ReadBatch {
  readonly #fd: number;
  readonly #memory: ReadMemory;
  readonly #sink: ByteSink;
  #slab: Buffer | undefined;
  #used = 0;
  #scheduled: NodeJS.Immediate | undefined;

  constructor(fd: number, memory: ReadMemory, sink: ByteSink) {
    this.#fd = fd;
    this.#memory = memory;
    this.#sink = sink;
  }

  append(bytes: Uint8Array, size: number): void {
    this.#reserve().set(size === bytes.length ? bytes : bytes.subarray(0, size), this.#used);
    this.#add(size);
  }

  /** Reads until no more data is available, or the chunk is full. Returns the size of the last read. */
  fill(): number {
    let size: number;
    do {
      const into = this.#reserve();
      size = this.#memory.read(this.#fd, into.subarray(this.#used), TERMINAL_READ_BYTES);
      if (size > 0) this.#add(size);
    } while (size === TERMINAL_READ_BYTES && this.#used + size <= CHUNK_SLAB_BYTES);
    return size;
  }

  flush(): void {
    if (this.#scheduled !== undefined) clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    if (this.#slab === undefined) return;
    const bytes = this.#memory.chunks.fill(this.#slab, this.#used);
    this.#slab = undefined;
    // An empty read is not a chunk: it would take a chunk number without being delivered.
    if (bytes.length > 0) this.#sink.onBytes(bytes);
  }

  /** A slab with room for one read. */
  #reserve(): Buffer {
    if (this.#slab !== undefined && this.#slab.length - this.#used < TERMINAL_READ_BYTES) this.flush();
    if (this.#slab === undefined) this.#used = 0;
    this.#slab ??= this.#memory.chunks.take();
    return this.#slab;
  }

  #add(size: number): void {
    this.#used += size;
    this.#scheduled ??= setImmediate(flush, this);
  }
}

const flush = (batch: ReadBatch): void => batch.flush();
