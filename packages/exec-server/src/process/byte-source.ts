import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { ReadStream } from "node:tty";
import { ChunkMemory } from "./chunk-memory.js";
import { CHUNK_SLAB_BYTES } from "./limits.js";

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
}

/** Reads a pipe. Owns the descriptor. */
export function readPipe(fd: number, { pipeBuffer, chunks }: ReadMemory, sink: ByteSink): ByteSource {
  const onRead = (size: number, buffer: Uint8Array) => {
    for (let from = 0; from < size; from += CHUNK_SLAB_BYTES) {
      sink.onBytes(chunks.copy(buffer.subarray(from, Math.min(size, from + CHUNK_SLAB_BYTES))));
    }
    return true;
  };
  const onread = { buffer: pipeBuffer, callback: onRead };
  // The types leave out that a socket made of a descriptor takes `onread`.
  const socket = new Socket({ fd, readable: true, writable: false, onread } as ConstructorParameters<typeof Socket>[0]);
  const source = readStream(socket, sink);
  socket.resume();
  return source;
}

/** Reads a stream that Node made. Owns it, and forgets it at its end: who holds the source does not hold the stream. */
export function readStream(readable: Readable, sink: ByteSink): ByteSource {
  let stream: Readable | undefined = readable;
  readable.on("data", (bytes: Buffer) => sink.onBytes(bytes));
  readable.on("error", () => {}); // a broken pipe ends it like an orderly end: `close` follows
  readable.once("close", () => {
    stream = undefined;
    sink.onEnd();
  });
  return {
    pause: () => void stream?.pause(),
    resume: () => void stream?.resume(),
    close: () => void stream?.destroy(),
  };
}

/** As much as a pipe holds. */
const PIPE_READ_BYTES = 64 * 1024;

/** One read of a terminal gives at most this many bytes, whatever the buffer; a full read makes libuv read again at once. */
const TERMINAL_READ_BYTES = 4095;

export const createReadMemory = (read: ReadMemory["read"]): ReadMemory => ({
  pipeBuffer: Buffer.allocUnsafeSlow(PIPE_READ_BYTES),
  terminalBuffer: Buffer.allocUnsafeSlow(TERMINAL_READ_BYTES),
  chunks: new ChunkMemory(CHUNK_SLAB_BYTES),
  read,
});

/** The terminal that is read, and its descriptor for writing and resizing while it is open. */
export interface TerminalSource extends ByteSource {
  readonly open: boolean;
}

/**
 * Reads the master side of a terminal. Owns the descriptor.
 *
 * When the last holder of the slave side goes, the master reports a hang-up; libuv then ends the stream after any
 * partial read, with data unread. So the end of the stream is not the end of the data: the rest is read directly
 * until the kernel answers EIO, which means that all was read.
 */
export function readTerminal(fd: number, { terminalBuffer, chunks, read }: ReadMemory, sink: ByteSink): TerminalSource {
  const batch = createBatch(fd, { chunks, read }, sink);
  let open = true;
  let stream: ReadStream | undefined;
  const end = () => {
    if (!open) return;
    open = false;
    stream = undefined;
    batch.flush();
    sink.onEnd();
  };
  const terminal = new ReadStream(fd, {
    allowHalfOpen: true,
    autoDestroy: false,
    onread: {
      buffer: terminalBuffer,
      callback(size: number, buffer: Uint8Array) {
        batch.append(buffer, size);
        // A short read says that the terminal is empty for now: what is here goes out without waiting for the turn to end.
        if (size < TERMINAL_READ_BYTES || batch.fill() < TERMINAL_READ_BYTES) batch.flush();
        return true;
      },
    },
  } as ConstructorParameters<typeof ReadStream>[1]); // the types leave out that socket options are passed on
  stream = terminal;
  terminal.on("end", () => {
    while (batch.fill() > 0);
    stream?.destroy();
  });
  terminal.on("error", () => stream?.destroy()); // EIO: nobody holds the slave side and all was read
  terminal.once("close", end);
  terminal.resume();
  return {
    get open() {
      return open && stream?.destroyed === false;
    },
    pause: () => void stream?.pause(),
    resume: () => void stream?.resume(),
    close: () => void stream?.destroy(),
  };
}

interface Batch {
  append(bytes: Uint8Array, size: number): void;
  /** Reads on until there is nothing for now, or the chunk is full: what the last read gave. */
  fill(): number;
  flush(): void;
}

/** Joins the small reads of one turn of the event loop into one chunk, without adding a delay. */
function createBatch(fd: number, { chunks, read }: Pick<ReadMemory, "chunks" | "read">, sink: ByteSink): Batch {
  let slab: Buffer | undefined;
  let used = 0;
  let scheduled: NodeJS.Immediate | undefined;
  const flush = () => {
    if (scheduled !== undefined) clearImmediate(scheduled);
    scheduled = undefined;
    if (slab === undefined) return;
    const bytes = chunks.fill(slab, used);
    slab = undefined;
    // A read that found nothing is no chunk: it would take a number that nobody gets.
    if (bytes.length > 0) sink.onBytes(bytes);
  };
  /** A slab with room for one read. */
  const reserve = (): Buffer => {
    if (slab !== undefined && slab.length - used < TERMINAL_READ_BYTES) flush();
    if (slab === undefined) used = 0;
    slab ??= chunks.take();
    return slab;
  };
  const add = (size: number) => {
    used += size;
    scheduled ??= setImmediate(flush);
  };
  return {
    append(bytes, size) {
      reserve().set(size === bytes.length ? bytes : bytes.subarray(0, size), used);
      add(size);
    },
    fill() {
      let size: number;
      do {
        const into = reserve();
        size = read(fd, into.subarray(used), TERMINAL_READ_BYTES);
        if (size > 0) add(size);
      } while (size === TERMINAL_READ_BYTES && used + size <= CHUNK_SLAB_BYTES);
      return size;
    },
    flush,
  };
}
