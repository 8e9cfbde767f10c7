import { constants, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import { createPipeSink, createStreamSink, type LogFormat, type LogSink } from "@codex/telemetry";

/** Not process.stdout, which writes to pipes synchronously: a peer that does not read would block this process. */
export function openStdout(): Writable {
  const info = fstatSync(1);
  return info.isFIFO() || info.isSocket() ? new Socket({ fd: 1, readable: false, writable: true }) : process.stdout;
}

/**
 * A sink for log lines that never blocks. process.stderr writes to a pipe synchronously, and a second stream on its descriptor
 * would break it; Linux can reopen a pipe. Call it before the process is shielded.
 */
export function openStderrSink(format: LogFormat): LogSink {
  const again = process.platform === "linux" && fstatSync(2).isFIFO() ? reopen(2) : undefined;
  return again === undefined
    ? createLazySink(() => createStreamSink(process.stderr, format))
    : createPipeSink(again, format);
}

/** Undefined where reopening is not allowed: the pipe belongs to another user. */
function reopen(fd: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}

/** Opens the sink with the first line. */
function createLazySink(open: () => LogSink): LogSink {
  let sink: LogSink | undefined;
  return {
    write(line) {
      sink ??= open();
      sink.write(line);
    },
    async close() {
      await sink?.close();
      // A parent that does not read must not keep this process from ending.
      if (sink !== undefined && process.stderr.writableLength > 0) setImmediate(() => process.exit());
    },
  };
}

/** Calls `stop` at the first SIGINT, SIGTERM or SIGHUP; a second one has its default effect. Returns a function that removes the handlers. */
export function onStopSignal(stop: () => void): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const off = () => {
    for (const signal of signals) process.off(signal, handler);
  };
  const handler = () => {
    off();
    stop();
  };
  for (const signal of signals) process.on(signal, handler);
  return off;
}
