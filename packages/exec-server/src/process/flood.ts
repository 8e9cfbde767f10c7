import { closeSync } from "node:fs";
import { bindLibc, type Libc } from "./libc.js";
import { CHUNK_SLAB_BYTES, FLOOD_READ_BYTES, MAX_FLOODS } from "./limits.js";

/** Where a flood goes. */
export interface FloodSink {
  /** At most CHUNK_SLAB_BYTES, lent for the call. */
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
export type OpenFlood = (fd: number, sink: FloodSink) => Flood | undefined;

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

/** stdio.h and fcntl.h of Linux, the same in glibc and musl. */
const IONBF = 2;
const F_DUPFD_CLOEXEC = 1030;

/** For descriptors that do not block. Linux. */
export function createOpenFlood({ fcntl }: Pick<Libc, "fcntl">): OpenFlood {
  let stdio: Stdio | undefined;
  let open = 0;
  /** Of floods that are over: as many as one takes. */
  const spare: Buffer[] = [];
  return (fd, sink) => {
    if (open === MAX_FLOODS) return undefined;
    stdio ??= bindLibc<Stdio>(PROTOTYPES);
    const { fread, clearerr, fclose } = stdio;
    const file = openFile(stdio, fcntl(fd, F_DUPFD_CLOEXEC, "int", 0));
    if (file === undefined) return undefined;
    open += 1;
    const source: FloodSource = {
      read: (into, done) =>
        fread.async(into, 1, into.length, file, (_error, bytes = 0) => {
          clearerr(file);
          done(bytes);
        }),
      close: (buffers) => {
        open -= 1;
        fclose(file);
        spare.push(...buffers.slice(spare.length));
      },
    };
    const takeBuffer = () => spare.pop() ?? Buffer.allocUnsafeSlow(FLOOD_READ_BYTES);
    return new FloodReader(source, [takeBuffer(), takeBuffer()], sink);
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

interface FloodSource {
  /** One at a time. `done` gets the number of bytes in a later turn: fewer than fit when there was nothing more. */
  read(into: Buffer, done: (bytes: number) => void): void;
  /** Not while it reads. Takes the buffers back. */
  close(buffers: readonly Buffer[]): void;
}

/** One buffer is filled while the other one is passed on. */
class FloodReader implements Flood {
  readonly #source: FloodSource;
  readonly #sink: FloodSink;
  readonly #buffers: readonly Buffer[];
  readonly #free: Buffer[];
  /** What was read and not passed on, in order. */
  readonly #read: { buffer: Buffer; from: number; to: number }[] = [];
  #reading = false;
  /** The last read found less than it might have. */
  #ebbed = false;
  #paused = false;
  #passing = false;
  #closed = false;

  constructor(source: FloodSource, buffers: readonly Buffer[], sink: FloodSink) {
    this.#source = source;
    this.#sink = sink;
    this.#buffers = buffers;
    this.#free = [...buffers];
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
    if (!this.#reading) this.#source.close(this.#buffers);
  }

  #goOn(): void {
    if (this.#passing) return; // it goes on below
    this.#passing = true;
    this.#readOn();
    for (let [first] = this.#read; first !== undefined && !this.#paused && !this.#closed; [first] = this.#read) {
      this.#passOn(first);
    }
    this.#passing = false;
    this.#readOn();
    if (!this.#ebbed || this.#read.length > 0 || this.#closed) return;
    this.close();
    this.#sink.onOver();
  }

  #passOn(first: { buffer: Buffer; from: number; to: number }): void {
    const { buffer, from, to } = first;
    first.from = Math.min(to, from + CHUNK_SLAB_BYTES);
    if (first.from === to) this.#read.shift();
    this.#sink.onBytes(buffer.subarray(from, first.from));
    if (first.from === to) this.#free.push(buffer);
  }

  #readOn(): void {
    if (this.#reading || this.#ebbed || this.#paused || this.#closed) return;
    const buffer = this.#free.pop();
    if (buffer === undefined) return;
    this.#reading = true;
    this.#source.read(buffer, (size) => {
      this.#reading = false;
      if (this.#closed) return this.#source.close(this.#buffers);
      this.#ebbed = size <= buffer.length / 2;
      this.#read.push({ buffer, from: 0, to: size });
      this.#goOn();
    });
  }
}
