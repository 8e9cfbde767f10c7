import { closeSync, writeSync } from "node:fs";
import { MAX_WAITING_LOG_BYTES, PIPE_RETRY_MS } from "../limits.js";
import type { LogFormat } from "./format.js";
import { formatDropped, type LogSink } from "./sink.js";

/**
 * Writes lines to a pipe through a non-blocking descriptor that it owns: with a stalled reader lines are dropped, and nothing blocks. It
 * does not keep the process alive.
 */
export function createPipeSink(
  fd: number,
  format: LogFormat,
  maxWaiting = MAX_WAITING_LOG_BYTES,
): LogSink & AsyncDisposable {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let dropped = 0;
  let isOpen = true;
  let retry: NodeJS.Timeout | undefined;

  const end = () => {
    if (isOpen) closeSync(fd);
    isOpen = false;
    clearTimeout(retry);
    waiting = [];
  };
  /** Until nothing is left or the pipe is full. */
  const writeAll = () => {
    retry = undefined;
    try {
      for (let first = waiting[0]; first !== undefined; first = waiting[0]) {
        const written = writeSync(fd, first);
        waitingBytes -= written;
        if (written < first.length) waiting[0] = first.subarray(written);
        else waiting.shift();
      }
    } catch (error) {
      const isFull = error instanceof Error && "code" in error && error.code === "EAGAIN";
      if (!isFull) return end();
      retry = setTimeout(writeAll, PIPE_RETRY_MS);
      retry.unref();
    }
  };
  const add = (line: string) => {
    const bytes = Buffer.from(line);
    waiting.push(bytes);
    waitingBytes += bytes.length;
  };
  return {
    write(line) {
      if (!isOpen) return;
      if (waitingBytes > maxWaiting) {
        dropped += 1;
        return;
      }
      if (dropped > 0) add(formatDropped(dropped, format));
      dropped = 0;
      add(line);
      if (retry === undefined) writeAll();
    },
    async close() {
      if (dropped > 0) add(formatDropped(dropped, format));
      dropped = 0;
      if (isOpen) writeAll();
      end();
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}
