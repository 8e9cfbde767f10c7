import { constants, fstatSync, openSync } from "node:fs";
import { Socket } from "node:net";
import type { Writable } from "node:stream";
import type { Logger } from "@codex/telemetry";
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

/**
 * Calls `stop` at the first SIGINT, SIGTERM or SIGHUP; a second one has its default effect. Returns a function that removes the handlers.
 * @param options `atHangup`: whether SIGHUP is one of them; default true
 */
export function onStopSignal(stop: () => void, { atHangup = true }: { atHangup?: boolean } = {}): () => void {
  const signals: readonly NodeJS.Signals[] = ["SIGINT", "SIGTERM", ...(atHangup ? (["SIGHUP"] as const) : [])];
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

/**
 * Lets SIGHUP look at the files of a listener at once, which are looked at when they are used otherwise; its connections stay. On a terminal,
 * SIGHUP says that it is gone, and is left alone. `reload` is called with the work. Returns a function that removes the handler.
 */
export function onHangup(
  log: Pick<Logger, "info">,
  checks: readonly ((() => unknown) | undefined)[],
  reload: (work: () => void) => void,
): () => void {
  if (process.stdin.isTTY) return () => {};
  const handler = () => {
    log.info?.("hang-up: files that have changed are read again");
    reload(() => {
      for (const check of checks) check?.();
    });
  };
  process.on("SIGHUP", handler);
  return () => void process.off("SIGHUP", handler);
}
