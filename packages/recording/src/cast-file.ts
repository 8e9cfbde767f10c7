import { once } from "node:events";
import { createWriteStream } from "node:fs";
import type { Writable } from "node:stream";
import { openOutputFileSync } from "@codex/file-lock";
import { messageOf } from "@codex/values";

/** Destination of a recording. */
export interface CastSink {
  /** Undefined when there is room for more; else a promise that resolves when there is. Data that cannot be written is dropped, and reported once. */
  write(lines: string): Promise<void> | undefined;
  /** Resolves when everything is written. Idempotent. */
  close(): Promise<void>;
}

/** Creates a file with mode 600, because terminal output may be secret. @throws Error naming the file, such as for one that exists */
export function createCastFile(path: string, onProblem: (problem: string) => void): CastSink {
  let fd: number;
  try {
    fd = openOutputFileSync(path, { flags: "wx", mode: 0o600 });
  } catch (cause) {
    const exists = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    const why = exists ? "it exists already" : messageOf(cause);
    throw new Error(`no recording can be written to ${JSON.stringify(path)}: ${why}`, { cause });
  }
  return createSink(createWriteStream(path, { fd }), (problem) => onProblem(`${JSON.stringify(path)}: ${problem}`));
}

/** Writes to a stream, which is ended on close unless it is stdout. */
export function createSink(stream: Writable, onProblem: (problem: string) => void): CastSink {
  let failed = false;
  let closed: Promise<void> | undefined;
  stream.on("error", (error: Error) => {
    if (!failed) onProblem(`the recording is not complete: ${error.message}`);
    failed = true;
  });
  const finish = () =>
    new Promise<void>((resolve) => {
      if (failed || stream.destroyed) return resolve();
      stream.once("close", resolve);
      if (stream === process.stdout) stream.write("", () => resolve());
      else stream.end();
    });
  return {
    write(lines) {
      if (failed || lines === "" || stream.write(lines)) return undefined;
      return once(stream, "drain").then(
        () => {},
        () => {}, // reported by the listener above
      );
    },
    close() {
      closed ??= finish();
      return closed;
    },
  };
}
