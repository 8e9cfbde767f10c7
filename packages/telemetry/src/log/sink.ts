import { formatLine, type LogFormat } from "./format.js";
import { createLogger, type Logger, type LogLevel } from "./logger.js";

/** A destination of log lines. It handles its own failures: no method throws or rejects. */
export interface LogSink {
  /** Never waits: a line that cannot be queued is dropped, and counted. */
  write(line: string): void;
  /** Writes the queued lines, up to a deadline. Idempotent. */
  close(): Promise<void>;
}

/** Options of `createLineLogger`. */
export interface LogOptions {
  level: LogLevel;
  format: LogFormat;
  /** Not owned. */
  sink: LogSink;
  /** Milliseconds since the epoch; default `Date.now`. */
  now?: () => number;
}

/** A logger that writes lines to a sink. */
export function createLineLogger({ level, format, sink, now = Date.now }: LogOptions): Logger {
  return createLogger(level, (at, event, fields) =>
    sink.write(formatLine({ at: now(), level: at, event, fields }, format)),
  );
}

/** The line that reports dropped lines; `format` is that of the sink's lines. */
export const formatDropped = (dropped: number, format: LogFormat): string =>
  formatLine({ at: Date.now(), level: "warn", event: "log lines were dropped", fields: { dropped } }, format);
