import { closeSync } from "node:fs";
import { bindLibc, duplicate, type Libc } from "../libc.js";
import { MAX_FLOODS } from "../limits.js";
import type { ChunkMemory } from "./chunk-memory.js";

/** Where a flood goes. */
export interface FloodSink {
  onBytes(bytes: Buffer): void;
  /** There was nothing more for now, or ever; everything was passed on, and nothing is read any more. */
  onOver(): void;
}

/** Reads a descriptor on the thread pool, as much as there is, while what was read before is on its way. */
export interface Flood {
  /** Nothing more is passed on until `resume`: what is being read is kept. */
  pause(): void;
  resume(): void;
  /** Nothing more is passed on at all. Idempotent. */
  close(): void;
}

/** Undefined where there are enough of them, or no further descriptor is to be had. The descriptor stays the caller's. */
export type OpenFlood = (fd: number, chunks: ChunkMemory, sink: FloodSink) => Flood | undefined;

/** `FILE *`. */
type File = object | bigint;

/** stdio.h. A stream without a buffer reads straight into the caller's, again and again until that is full. */
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

/** For descriptors that do not block. Linux. */
export function createOpenFlood(libc: Pick<Libc, "fcntl">): OpenFlood {
  let stdio: Stdio | undefined;
  let open = 0;
  return (fd, chunks, sink) => {
    if (open === MAX_FLOODS) return undefined;
    stdio ??= bindLibc<Stdio>(PROTOTYPES);
    const { fread, clearerr, fclose } = stdio;
    const file = openFile(stdio, duplicate(libc, fd));
    if (file === undefined) return undefined;
    open += 1;
    const source: FloodSource = {
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
    return new FloodReader(source, chunks, sink);
  };
}

/** Owns the descriptor. */
function openFile({ fdopen, setvbuf }: Stdio, fd: number): File | undefined {
  if (fd === -1) return undefined;
  const file = fdopen(fd, "r");
  if (file === null) closeSync(fd);
  else setvbuf(file, null, IONBF, 0);
  return file ?? undefined;
}

export interface FloodSource {
  /** One at a time. `done` gets the number of bytes in a later turn: fewer than fit when there was nothing more. */
  read(into: Buffer, done: (bytes: number) => void): void;
  /** Not while it reads. */
  close(): void;
}

/** One chunk is read while the one before is passed on. */
export class FloodReader implements Flood {
  readonly #source: FloodSource;
  readonly #chunks: ChunkMemory;
  readonly #sink: FloodSink;
  /** What was read and not passed on, in order; one more may be on its way. */
  readonly #read: Buffer[] = [];
  #reading = false;
  /** The last read found less than it might have. */
  #ebbed = false;
  #paused = false;
  #passing = false;
  #closed = false;

  constructor(source: FloodSource, chunks: ChunkMemory, sink: FloodSink) {
    this.#source = source;
    this.#chunks = chunks;
    this.#sink = sink;
    this.#readOn();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#goOn();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    if (!this.#reading) this.#source.close();
  }

  #goOn(): void {
    if (this.#passing) return; // it goes on below
    this.#passing = true;
    this.#readOn();
    while (!this.#paused && !this.#closed && this.#read.length > 0) this.#sink.onBytes(this.#read.shift()!);
    this.#passing = false;
    this.#readOn();
    if (!this.#ebbed || this.#read.length > 0 || this.#closed) return;
    this.close();
    this.#sink.onOver();
  }

  #readOn(): void {
    if (this.#reading || this.#ebbed || this.#paused || this.#closed) return;
    this.#reading = true;
    const slab = this.#chunks.take();
    this.#source.read(slab, (size) => {
      this.#reading = false;
      if (this.#closed) return this.#source.close();
      this.#ebbed = size <= slab.length / 2;
      const bytes = this.#chunks.fill(slab, size);
      if (bytes.length > 0) this.#read.push(bytes);
      this.#goOn();
    });
  }
}
