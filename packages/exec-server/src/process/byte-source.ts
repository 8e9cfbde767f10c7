import { readSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";
import { ReadStream } from "node:tty";
import { MAX_TERMINAL_CHUNK_BYTES } from "./limits.js";

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

/** Reads a pipe. Owns the descriptor. */
export function readPipe(fd: number, sink: ByteSink): ByteSource {
  return readStream(new Socket({ fd, readable: true, writable: false }), sink);
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

/** One read of a terminal gives at most this many bytes, whatever the buffer; a full read makes libuv read again at once. */
const TERMINAL_READ_BYTES = 4095;

/** A buffer that terminals of one host read into, one after the other: what is in it is copied at once. */
export const createTerminalBuffer = (): Buffer => Buffer.allocUnsafeSlow(TERMINAL_READ_BYTES);

/** The terminal that is read, and its descriptor for writing and resizing while it is open. */
export interface TerminalSource extends ByteSource {
  readonly open: boolean;
}

/**
 * Reads the master side of a terminal. Owns the descriptor; `shared` is written over with every read.
 *
 * When the last holder of the slave side goes, the master reports a hang-up; libuv then ends the stream after any
 * partial read, with data unread. So the end of the stream is not the end of the data: the rest is read directly
 * until the kernel answers EIO, which means that all was read.
 */
export function readTerminal(fd: number, shared: Buffer, sink: ByteSink): TerminalSource {
  const batch = createBatch(sink);
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
      buffer: shared,
      callback(size: number, buffer: Uint8Array) {
        batch.append(buffer, size);
        // A short read says that the terminal is empty for now: what is here goes out without waiting for the turn to end.
        if (size < TERMINAL_READ_BYTES) batch.flush();
        return true;
      },
    },
  } as ConstructorParameters<typeof ReadStream>[1]); // the types leave out that socket options are passed on
  stream = terminal;
  terminal.on("end", () => {
    drain(fd, shared, batch);
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

/** Reads what is left until the kernel says that there is nothing (EIO, end) or nothing for now (EAGAIN). */
function drain(fd: number, buffer: Buffer, batch: Batch): void {
  for (;;) {
    let size: number;
    try {
      size = readSync(fd, buffer);
    } catch {
      return;
    }
    if (size === 0) return;
    batch.append(buffer, size);
  }
}

interface Batch {
  append(bytes: Uint8Array, size: number): void;
  flush(): void;
}

/** Joins the small reads of one turn of the event loop into one chunk, without adding a delay. */
function createBatch(sink: ByteSink): Batch {
  let joined: Buffer | undefined;
  let used = 0;
  let scheduled: NodeJS.Immediate | undefined;
  const flush = () => {
    if (scheduled !== undefined) clearImmediate(scheduled);
    scheduled = undefined;
    if (joined === undefined || used === 0) return;
    const bytes = joined.subarray(0, used);
    joined = joined.length - used >= TERMINAL_READ_BYTES ? joined.subarray(used) : undefined;
    used = 0;
    sink.onBytes(bytes);
  };
  return {
    append(bytes, size) {
      if (joined !== undefined && joined.length - used < size) flush();
      joined ??= Buffer.allocUnsafeSlow(size < TERMINAL_READ_BYTES ? 8 * 1024 : MAX_TERMINAL_CHUNK_BYTES);
      joined.set(size === bytes.length ? bytes : bytes.subarray(0, size), used);
      used += size;
      scheduled ??= setImmediate(flush);
    },
    flush,
  };
}
