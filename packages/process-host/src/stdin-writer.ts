import { writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { errnoOf, WriteError } from "@codex/exec-backend";

/** The writing end of a process's stdin. Writes are not interleaved, and are made in the order of the calls. */
export interface StdinWriter {
  /** Resolves when every byte was written. @throws WriteError with the number of bytes that were written */
  write(bytes: Uint8Array): Promise<void>;
  /** Ends the input after pending writes. Later writes fail with `stdin_closed`. */
  end(): Promise<void>;
  /** Rejects pending writes: the process is gone, or reads no more. Returns the writer for later writes. Idempotent. */
  close(): StdinWriter;
}

export const closedStdin: StdinWriter = {
  write: () => Promise.reject(new WriteError("stdin_closed", 0, "stdin is closed")),
  end: () => Promise.resolve(),
  close: () => closedStdin,
};

const goneTerminal: StdinWriter = {
  write: () => Promise.reject(new WriteError("exited", 0, "the terminal is gone")),
  end: () => Promise.resolve(),
  close: () => goneTerminal,
};

/** Bytes passed to a stream at a time, so that a failed write can report how many were written. */
const PIPE_SLICE_BYTES = 64 * 1024;

/** Writes to a pipe or socket. Owns the stream. */
export function createPipeWriter(stream: Writable): StdinWriter {
  let broken = false;
  let tail: Promise<void> = Promise.resolve();
  stream.on("error", () => {}); // reported by the write that failed
  stream.once("close", () => {
    broken = true;
  });
  const writeSlice = (slice: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      const onClose = () => reject(new Error("closed"));
      stream.once("close", onClose);
      stream.write(slice, (error) => {
        stream.off("close", onClose);
        if (error) reject(error);
        else resolve();
      });
    });
  const writeAll = async (bytes: Uint8Array) => {
    for (let taken = 0; taken < bytes.length; taken += PIPE_SLICE_BYTES) {
      if (broken || stream.writableEnded) throw new WriteError("stdin_closed", taken, "stdin is closed");
      await writeSlice(bytes.subarray(taken, taken + PIPE_SLICE_BYTES)).catch((cause: unknown) => {
        throw new WriteError("stdin_closed", taken, "the process has closed its stdin", { cause });
      });
    }
  };
  return {
    write(bytes) {
      const done = tail.then(() => writeAll(bytes));
      tail = done.catch(() => {});
      return done;
    },
    async end() {
      tail = tail.then(() => {
        if (!broken) stream.end();
      });
      await tail;
    },
    close() {
      stream.destroy();
      return closedStdin;
    },
  };
}

/** The end-of-file character of a terminal in its default settings (VEOF). */
const END_OF_TRANSMISSION = new Uint8Array([4]);

/** Bytes written to a terminal in one system call; more than its input buffer holds. */
const TERMINAL_SLICE_BYTES = 64 * 1024;

/** Retries in following turns of the event loop before timers take over, and the longest such timer, ms. */
const IMMEDIATE_RETRIES = 16;
const MAX_RETRY_MS = 32;

interface TerminalWrite {
  bytes: Uint8Array;
  taken: number;
  resolve(): void;
  reject(error: WriteError): void;
}

/** The reading side of the same terminal. */
interface EchoSource {
  /** Whether the descriptor is still open: once it is closed, its number may refer to another file. */
  readonly open: boolean;
  poll(): void;
}

/**
 * Writes to the master side of a terminal. Does not own the descriptor. The kernel has usually echoed the input by the time
 * the write returns: the echo is read immediately, and sent together with the response to the write.
 *
 * libuv would spin on a terminal whose program does not read (it treats a master as a blocking stream), and Node has no event
 * for "writable again"; so a write to a full terminal is retried, immediately at first and then with increasing delays.
 */
export class TerminalWriter implements StdinWriter {
  readonly #fd: number;
  readonly #terminal: EchoSource;
  #queue: TerminalWrite[] = [];
  #closed = false;
  #ended = false;
  #retries = 0;
  #cancelRetry: (() => void) | undefined;

  constructor(fd: number, terminal: EchoSource) {
    this.#fd = fd;
    this.#terminal = terminal;
  }

  write(bytes: Uint8Array): Promise<void> {
    if (this.#ended) return Promise.reject(new WriteError("stdin_closed", 0, "stdin is closed"));
    return this.#write(bytes);
  }

  async end(): Promise<void> {
    if (this.#ended || this.#closed) return;
    this.#ended = true;
    await this.#write(END_OF_TRANSMISSION).catch(() => {});
  }

  close(): StdinWriter {
    this.#closed = true;
    this.#cancelRetry?.();
    this.#fail("exited", "the process exited before it took all input");
    return this.#ended ? closedStdin : goneTerminal;
  }

  #write(bytes: Uint8Array): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      if (this.#closed) return reject(new WriteError("exited", 0, "the terminal is gone"));
      this.#queue.push({ bytes, taken: 0, resolve, reject });
      if (this.#queue.length === 1) this.#pump();
    });
  }

  #fail(code: WriteError["code"], message: string, cause?: unknown): void {
    const failed = this.#queue;
    this.#queue = [];
    for (const { reject, taken } of failed) reject(new WriteError(code, taken, message, { cause }));
  }

  #scheduleRetry(): void {
    this.#retries += 1;
    const pump = () => this.#pump();
    if (this.#retries <= IMMEDIATE_RETRIES) {
      const immediate = setImmediate(pump);
      this.#cancelRetry = () => clearImmediate(immediate);
      return;
    }
    const timer = setTimeout(pump, Math.min(2 ** (this.#retries - IMMEDIATE_RETRIES - 1), MAX_RETRY_MS));
    this.#cancelRetry = () => clearTimeout(timer);
  }

  #pump(): void {
    this.#cancelRetry = undefined;
    if (!this.#terminal.open) return this.#fail("exited", "the terminal is gone");
    for (let entry = this.#queue[0]; entry !== undefined; entry = this.#queue[0]) {
      while (entry.taken < entry.bytes.length) {
        let size: number;
        try {
          size = writeSync(
            this.#fd,
            entry.bytes,
            entry.taken,
            Math.min(entry.bytes.length - entry.taken, TERMINAL_SLICE_BYTES),
          );
        } catch (error) {
          if (errnoOf(error) === "EAGAIN") return this.#scheduleRetry();
          return this.#fail("exited", "the terminal is gone", error);
        }
        entry.taken += size;
        if (size > 0) this.#retries = 0;
        // One slice per turn of the event loop: a program that echoes fast must not starve everything else.
        if (entry.taken < entry.bytes.length) return this.#scheduleRetry();
      }
      this.#queue.shift();
      entry.resolve();
    }
    this.#terminal.poll();
  }
}
