import { closeSync } from "node:fs";
import { bindLibc, hasFunction } from "../libc/bind.js";
import { duplicate } from "../libc/descriptors.js";
import type { Library } from "../libc/koffi.js";
import type { Libc } from "../libc/libc.js";
import { MAX_BURST_READERS } from "../limits.js";
import type { ChunkMemory } from "./chunk-memory.js";

/** Receives the chunks of a burst. */
export interface BurstSink {
  onBytes(bytes: Buffer): void;
  /** Called once, after the last chunk, when a read returned little or nothing; the reader has closed itself. */
  onDrained(): void;
}

/** Undefined when `MAX_BURST_READERS` are open, the C library lacks a function, or there is no free descriptor. The caller keeps ownership of `fd`. */
export type OpenBurstReader = (fd: number, chunks: ChunkMemory, sink: BurstSink) => BurstReader | undefined;

/** `FILE *`. */
type File = object | bigint;

/** stdio.h. An unbuffered stream reads directly into the caller's buffer, repeatedly until that is full. */
interface Stdio {
  fdopen(fd: number, mode: string): File | null;
  setvbuf(file: File, buffer: null, mode: number, bytes: number): number;
  fread: {
    async(
      into: Buffer,
      itemBytes: number,
      items: number,
      file: File,
      done: (error: unknown, items?: number) => void,
    ): void;
  };
  clearerr(file: File): void;
  fclose(file: File): number;
}

const PROTOTYPES: Readonly<Record<keyof Stdio, string>> = {
  fdopen: "void *fdopen(int fd, const char *mode)",
  setvbuf: "int setvbuf(void *file, void *buffer, int mode, size_t bytes)",
  fread: "size_t fread(_Out_ void *into, size_t item_bytes, size_t items, void *file)",
  clearerr: "void clearerr(void *file)",
  fclose: "int fclose(void *file)",
};

/** stdio.h of Linux, the same in glibc and musl. */
const IONBF = 2;

/** For non-blocking descriptors. Linux. */
export function bindBurstReader(libc: Libc, library?: Library): OpenBurstReader {
  let bound: { stdio: Stdio | undefined } | undefined;
  let open = 0;
  return (fd, chunks, sink) => {
    if (open === MAX_BURST_READERS) return undefined;
    bound ??= { stdio: bindStdio(libc, library) };
    const { stdio } = bound;
    if (stdio === undefined) return undefined;
    const { fread, clearerr, fclose } = stdio;
    const file = openFile(stdio, duplicate(libc, fd));
    if (file === undefined) return undefined;
    open += 1;
    const source: BurstSource = {
      read: (into, done) =>
        fread.async(into, 1, into.length, file, (_error, bytes = 0) => {
          clearerr(file);
          done(bytes);
        }),
      close: () => {
        open -= 1;
        fclose(file);
      },
    };
    return new BurstReader(source, chunks, sink);
  };
}

/** Undefined when the C library lacks one of the functions; bursts are then read on the event loop. */
function bindStdio(libc: Libc, library: Library | undefined): Stdio | undefined {
  const stdio = bindLibc<Stdio>(PROTOTYPES, library);
  const names = Object.keys(PROTOTYPES) as (keyof Stdio)[]; // the keys of its type
  return hasFunction(libc, "fcntl") && names.every((name) => hasFunction(stdio, name)) ? stdio : undefined;
}

/** Takes ownership of the descriptor. */
function openFile({ fdopen, setvbuf }: Stdio, fd: number): File | undefined {
  if (fd === -1) return undefined;
  const file = fdopen(fd, "r");
  if (file === null) closeSync(fd);
  else setvbuf(file, null, IONBF, 0);
  return file ?? undefined;
}

export interface BurstSource {
  /** Reads never overlap. `done` gets the number of bytes in a later turn; fewer than fit when there was nothing more. */
  read(into: Buffer, done: (bytes: number) => void): void;
  /** Not during a read. */
  close(): void;
}

/** Reads a descriptor on the thread pool while it has much data: one chunk is read while the previous one is delivered. */
export class BurstReader {
  readonly #source: BurstSource;
  readonly #chunks: ChunkMemory;
  readonly #sink: BurstSink;
  /** Chunks that were read and not delivered, in order; one more read may be in progress. */
  readonly #undelivered: Buffer[] = [];
  #reading = false;
  /** The last read filled at most half of the buffer. */
  #drained = false;
  #paused = false;
  #delivering = false;
  #closed = false;

  constructor(source: BurstSource, chunks: ChunkMemory, sink: BurstSink) {
    this.#source = source;
    this.#chunks = chunks;
    this.#sink = sink;
    this.#readAhead();
  }

  /** Stops delivery until `resume`; the data of a read in progress is kept. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#deliver();
  }

  /** Stops delivery. Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#reading) this.#source.close();
  }

  #deliver(): void {
    if (this.#delivering) return; // called by the sink: the loop below continues
    this.#delivering = true;
    this.#readAhead();
    while (!this.#paused && !this.#closed && this.#undelivered.length > 0)
      this.#sink.onBytes(this.#undelivered.shift()!);
    this.#delivering = false;
    this.#readAhead();
    if (!this.#drained || this.#undelivered.length > 0 || this.#closed) return;
    this.close();
    this.#sink.onDrained();
  }

  #readAhead(): void {
    if (this.#reading || this.#drained || this.#paused || this.#closed) return;
    this.#reading = true;
    const slab = this.#chunks.take();
    this.#source.read(slab, (size) => {
      this.#reading = false;
      if (this.#closed) return this.#source.close();
      this.#drained = size <= slab.length / 2;
      const bytes = this.#chunks.fill(slab, size);
      if (bytes.length > 0) this.#undelivered.push(bytes);
      this.#deliver();
    });
  }
}
