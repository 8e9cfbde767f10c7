import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { toError } from "@codex/values";
import { EXIT } from "./exit-codes.js";

/** An output stream of this process. For a file Node uses synchronous writes and ignores partial ones. */
type Output = NodeJS.WriteStream & { fd: number };

/**
 * Reports a full disk once and makes the command fail; a reader that has gone, as in `codex … | head`, only ends the output.
 * Call it once, before anything is written.
 */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (isFile(stream.fd)) writeWhole(stream);
    let isReported = false;
    stream.on("error", (error) => {
      if (isReported || !isOutputLost(error)) return;
      isReported = true;
      process.once("exit", () => {
        process.exitCode ||= EXIT.failure;
      });
      if (stream === process.stderr) return;
      process.stderr.write(`codex: standard output cannot be written: ${error.message}; the rest of it is lost\n`);
    });
  }
}

/** Whether lost output is a failure: not when its reader has gone, or when it was reported already. */
export const isOutputLost = (error: Error): boolean =>
  !("code" in error) || (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED");

/** Resolves when everything given to a stream is written or has failed. */
export const written = (stream: Writable): Promise<void> => new Promise((resolve) => stream.write("", () => resolve()));

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false; // it is closed
  }
}

/** Repeats partial writes: a disk that becomes full accepts a part of a write without an error. */
function writeWhole(stream: Output): void {
  stream._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(stream.fd, chunk, at);
    } catch (error) {
      return done(toError(error));
    }
    done();
  };
}
