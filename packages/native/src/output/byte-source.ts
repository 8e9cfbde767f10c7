import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { ReadStream } from "node:tty";
import { CHUNK_SLAB_BYTES } from "../limits.js";
import { ChunkMemory } from "./chunk-memory.js";
import type { Flood, OpenFlood } from "./flood.js";
import type { ReadTurns } from "./read-turns.js";

/**
 * Bytes of one output stream of a process. `onEnd` is called once, after the last byte: the stream ended or broke,
 * and nothing more can be read from it. Paused, it reads nothing, so the process blocks once the kernel's buffer is full.
 */
export interface ByteSource {
  pause(): void;
  resume(): void;
  /** Gives the descriptor back without reading further; `onEnd` is called. Idempotent. */
  close(): void;
}

export interface ByteSink {
  onBytes(bytes: Buffer): void;
  onEnd(): void;
}

/** What the sources of a host read with: a buffer each for one read after the other, and memory for what is kept. */
export interface ReadMemory {
  /** Written over with every read: what is in it is copied at once. */
  readonly pipeBuffer: Buffer;
  readonly terminalBuffer: Buffer;
  readonly chunks: ChunkMemory;
  /** Reads what is there at once: how many bytes, at most that many; 0 or less when nothing is there, or nothing more. */
  read(fd: number, into: Uint8Array, bytes: number): number;
  readonly openFlood: OpenFlood;
  readonly turns: ReadTurns;
}

/** Reads a pipe. Owns the descriptor. */
export function readPipe(fd: number, { pipeBuffer, chunks, turns }: ReadMemory, sink: ByteSink): ByteSource {
  const onRead = (size: number, buffer: Uint8Array) => {
    for (let from = 0; from < size; from += CHUNK_SLAB_BYTES) {
      sink.onBytes(chunks.copy(buffer.subarray(from, Math.min(size, from + CHUNK_SLAB_BYTES))));
    }
    source.onRead(size);
    return true;
  };
  const onread = { buffer: pipeBuffer, callback: onRead };
  // The types leave out that a socket made of a descriptor takes `onread`.
  const socket = new Socket({ fd, readable: true, writable: false, onread } as ConstructorParameters<typeof Socket>[0]);
  const source = new StreamSource(socket, sink, turns);
  socket.resume();
  return source;
}

/** Reads a stream that Node made. Owns it. */
export function readStream(readable: Readable, turns: ReadTurns, sink: ByteSink): ByteSource {
  readable.on("data", (bytes: Buffer) => {
    sink.onBytes(bytes);
    source.onRead(bytes.length);
  });
  const source = new StreamSource(readable, sink, turns);
  return source;
}

/** Forgets its stream at the end of that: who holds the source does not hold the stream. */
class StreamSource implements ByteSource {
  readonly #turns: ReadTurns;
  #stream: Readable | undefined;
  #paused = false;
  /** One after the other. */
  #fullReads = 0;
  /** Nothing is read before its turn comes. */
  #waiting = false;

  constructor(stream: Readable, sink: ByteSink, turns: ReadTurns) {
    this.#stream = stream;
    this.#turns = turns;
    stream.on("error", ignore); // a broken pipe ends it like an orderly end: `close` follows
    stream.on("close", () => {
      this.#stream = undefined;
      turns.leave(this.#go);
      sink.onEnd();
    });
  }

  /** After a full read there is more, and libuv would go on for up to 32 reads before anybody else is read or answered. */
  onRead(size: number): void {
    this.#fullReads = size < PIPE_READ_BYTES ? 0 : this.#fullReads + 1;
    if (this.#fullReads < this.#turns.fullReads || this.#waiting) return;
    this.#fullReads = 0;
    this.#waiting = true;
    this.#stream?.pause();
    this.#turns.wait(this.#go);
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (!this.#waiting) this.#stream?.resume();
  }

  readonly #go = (): void => {
    this.#waiting = false;
    if (!this.#paused) this.#stream?.resume();
  };

  close(): void {
    this.#stream?.destroy();
  }
}

const ignore = (): void => {};

/** As much as a pipe holds. */
const PIPE_READ_BYTES = 64 * 1024;

/** One read of a terminal gives at most this many bytes, whatever the buffer; a full read makes libuv read again at once. */
const TERMINAL_READ_BYTES = 4095;

export const createReadMemory = (read: ReadMemory["read"], openFlood: OpenFlood, turns: ReadTurns): ReadMemory => ({
  pipeBuffer: Buffer.allocUnsafeSlow(PIPE_READ_BYTES),
  terminalBuffer: Buffer.allocUnsafeSlow(TERMINAL_READ_BYTES),
  chunks: new ChunkMemory(CHUNK_SLAB_BYTES),
  read,
  openFlood,
  turns,
});

/** The terminal that is read, and its descriptor for writing and resizing while it is open. */
export interface TerminalSource extends ByteSource {
  readonly open: boolean;
  /** Reads what is there now instead of waiting for the event loop to say so. Paused, it reads nothing. */
  poll(): void;
}

/**
 * Reads the master side of a terminal. Owns the descriptor.
 *
 * When the last holder of the slave side goes, the master reports a hang-up; libuv then ends the stream after any
 * partial read, with data unread. So the end of the stream is not the end of the data: the rest is read directly
 * until the kernel answers EIO, which means that all was read.
 */
export const readTerminal = (fd: number, memory: ReadMemory, sink: ByteSink): TerminalSource =>
  new TerminalReader(fd, memory, sink);

class TerminalReader implements TerminalSource {
  readonly #fd: number;
  readonly #memory: ReadMemory;
  readonly #batch: Batch;
  readonly #sink: ByteSink;
  #paused = false;
  #stream: ReadStream | undefined;
  /** While it reads, nobody else does. */
  #flood: Flood | undefined;
  /** Nothing is read before its turn comes. */
  #waiting = false;

  constructor(fd: number, memory: ReadMemory, sink: ByteSink) {
    this.#fd = fd;
    this.#memory = memory;
    this.#batch = new Batch(fd, memory, sink);
    this.#sink = sink;
    const callback = (size: number, buffer: Uint8Array) => this.#take(size, buffer);
    const options = { allowHalfOpen: true, autoDestroy: false, onread: { buffer: memory.terminalBuffer, callback } };
    // The types leave out that socket options are passed on.
    const stream = new ReadStream(fd, options as ConstructorParameters<typeof ReadStream>[1]);
    this.#stream = stream;
    stream.on("end", () => {
      while (this.#batch.fill() > 0);
      stream.destroy();
    });
    stream.on("error", destroy); // EIO: nobody holds the slave side and all was read
    stream.on("close", () => this.#end());
    stream.resume();
  }

  get open(): boolean {
    return this.#stream?.destroyed === false;
  }

  pause(): void {
    this.#paused = true;
    this.#stream?.pause();
    this.#flood?.pause();
  }

  resume(): void {
    this.#paused = false;
    if (this.#flood !== undefined) this.#flood.resume();
    else if (!this.#waiting) this.#stream?.resume();
  }

  poll(): void {
    if (!this.#paused && !this.#waiting && this.open && this.#flood === undefined) this.#readOn();
  }

  close(): void {
    this.#flood?.close();
    this.#stream?.destroy();
  }

  #take(size: number, buffer: Uint8Array): boolean {
    this.#batch.append(buffer, size);
    if (size < TERMINAL_READ_BYTES) this.#batch.flush();
    else if (this.#memory.turns.enter(this.#go)) this.#readOn();
    else this.#wait();
    return true;
  }

  #wait(): void {
    this.#batch.flush();
    this.#waiting = true;
    this.#stream?.pause();
  }

  /** Its turn has come. */
  readonly #go = (): void => {
    this.#waiting = false;
    if (this.#paused || !this.open) return;
    this.#stream?.resume();
    this.#readOn();
  };

  /** A short read says that the terminal is empty for now: what is here goes out without waiting for the turn to end. */
  #readOn(): void {
    if (this.#batch.fill() < TERMINAL_READ_BYTES) this.#batch.flush();
    else this.#openFlood();
  }

  /**
   * It fills as fast as it is read. Each read waits for a worker of the kernel to fetch what was written, and the writer for
   * the reader: so it is read on the thread pool, while what came before goes on its way.
   */
  #openFlood(): void {
    this.#batch.flush();
    if (this.#paused || !this.open) return;
    const { chunks, openFlood } = this.#memory;
    this.#flood = openFlood(this.#fd, chunks, {
      onBytes: (bytes) => this.#sink.onBytes(bytes),
      onOver: () => {
        this.#flood = undefined;
        if (!this.#paused) this.#stream?.resume();
      },
    });
    if (this.#flood !== undefined) this.#stream?.pause();
  }

  #end(): void {
    if (this.#stream === undefined) return;
    this.#stream = undefined;
    this.#memory.turns.leave(this.#go);
    this.#batch.flush();
    this.#sink.onEnd();
  }
}

function destroy(this: ReadStream): void {
  this.destroy();
}

/** Joins the small reads of one turn of the event loop into one chunk, without adding a delay. */
class Batch {
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

  /** Reads on until there is nothing for now, or the chunk is full: what the last read gave. */
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
    // A read that found nothing is no chunk: it would take a number that nobody gets.
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

const flush = (batch: Batch): void => batch.flush();
