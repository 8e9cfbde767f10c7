import { writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { errnoOf, WriteError } from "./errors.js";

/** The writing end of a process's stdin. Writes are taken whole and in the order of the calls. */
export interface StdinWriter {
  /** Resolves when every byte is in the kernel. @throws WriteError with the bytes that were taken. */
  write(bytes: Uint8Array): Promise<void>;
  /** End of input, after what was written before. Later writes fail with `stdin_closed`. */
  end(): Promise<void>;
  /** Fails what still waits: the process is gone, or nobody reads any more. */
  close(): void;
}

export const closedStdin: StdinWriter = {
  write: () => Promise.reject(new WriteError("stdin_closed", 0, "stdin is closed")),
  end: () => Promise.resolve(),
  close: () => {},
};

/** Bytes handed to a stream at a time, so that an interrupted write knows how far it came. */
const PIPE_SLICE_BYTES = 64 * 1024;

/** Writes to a pipe or socket. Owns the stream. */
export function createPipeWriter(stream: Writable): StdinWriter {
  let broken = false;
  let tail: Promise<void> = Promise.resolve();
  stream.on("error", () => {}); // told to the write that failed
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
    close: () => stream.destroy(),
  };
}

/** The end-of-file character of a terminal in its default settings (VEOF). */
const END_OF_TRANSMISSION = new Uint8Array([4]);

/** Bytes written to a terminal in one system call; more than its input buffer takes. */
const TERMINAL_SLICE_BYTES = 64 * 1024;

/** Retries in following turns of the event loop before timers take over, and the longest such timer, ms. */
const IMMEDIATE_RETRIES = 16;
const MAX_RETRY_MS = 32;

/**
 * Writes to the master side of a terminal. Does not own the descriptor; `isOpen` tells whether it is still ours, since
 * its number may be given to another file the moment it is closed.
 *
 * libuv would spin on a terminal whose program does not read (it takes a master for a blocking stream), and Node offers
 * no event for "writable again"; so a full terminal is tried again, at once at first and then with growing pauses.
 */
export function createTerminalWriter(fd: number, isOpen: () => boolean): StdinWriter {
  const queue: { bytes: Uint8Array; taken: number; resolve(): void; reject(error: WriteError): void }[] = [];
  let closed = false;
  let ended = false;
  let retries = 0;
  let cancelRetry: (() => void) | undefined;

  const fail = (code: WriteError["code"], message: string, cause?: unknown) => {
    for (const entry of queue.splice(0)) {
      entry.reject(new WriteError(code, entry.taken, message, { cause }));
    }
  };
  const scheduleRetry = () => {
    retries += 1;
    if (retries <= IMMEDIATE_RETRIES) {
      const immediate = setImmediate(pump);
      cancelRetry = () => clearImmediate(immediate);
      return;
    }
    const timer = setTimeout(pump, Math.min(2 ** (retries - IMMEDIATE_RETRIES - 1), MAX_RETRY_MS));
    cancelRetry = () => clearTimeout(timer);
  };
  function pump(): void {
    cancelRetry = undefined;
    if (!isOpen()) return fail("exited", "the terminal is gone");
    for (let entry = queue[0]; entry !== undefined; entry = queue[0]) {
      while (entry.taken < entry.bytes.length) {
        let size: number;
        try {
          size = writeSync(
            fd,
            entry.bytes,
            entry.taken,
            Math.min(entry.bytes.length - entry.taken, TERMINAL_SLICE_BYTES),
          );
        } catch (error) {
          if (errnoOf(error) === "EAGAIN") return scheduleRetry();
          return fail("exited", "the terminal is gone", error);
        }
        entry.taken += size;
        if (size > 0) retries = 0;
        // One slice a turn: a program that echoes fast must not keep everything else waiting.
        if (entry.taken < entry.bytes.length) return scheduleRetry();
      }
      queue.shift();
      entry.resolve();
    }
  }
  const write = (bytes: Uint8Array) =>
    new Promise<void>((resolve, reject) => {
      if (closed) return reject(new WriteError("exited", 0, "the terminal is gone"));
      queue.push({ bytes, taken: 0, resolve, reject });
      if (queue.length === 1) pump();
    });
  return {
    write: (bytes) =>
      ended ? Promise.reject(new WriteError("stdin_closed", 0, "stdin was ended before")) : write(bytes),
    async end() {
      if (ended || closed) return;
      ended = true;
      await write(END_OF_TRANSMISSION).catch(() => {});
    },
    close() {
      closed = true;
      cancelRetry?.();
      fail("exited", "the process exited before it took all input");
    },
  };
}
