import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { EXIT } from "./exit-codes.js";

/** An output of this process. Of a file Node makes one that writes at once, and takes no notice of how much was taken. */
type Output = NodeJS.WriteStream & { fd: number };

/**
 * A disk that becomes full is told, once, and makes the command fail; a reader that went away, as in `codex … | head`, ends
 * the output alone. Called once, before anything is written.
 */
export function watchOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    if (isFile(stream.fd)) writeWhole(stream);
    let isTold = false;
    stream.on("error", (error) => {
      if (isTold || !isOutputLost(error)) return;
      isTold = true;
      process.once("exit", () => {
        process.exitCode ||= EXIT.failure;
      });
      if (stream === process.stderr) return;
      process.stderr.write(`codex: standard output cannot be written: ${error.message}; the rest of it is lost\n`);
    });
  }
}

/** Whether somebody misses what could not be written: not the reader that went away, nor one who was told already. */
export const isOutputLost = (error: Error): boolean =>
  !("code" in error) || (error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED");

/** Resolves when all that was handed to a stream is written, or cannot be. */
export const written = (stream: Writable): Promise<void> => new Promise((resolve) => stream.write("", () => resolve()));

function isFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch {
    return false; // it is closed
  }
}

/** A disk that becomes full takes a part of a write without an error. */
function writeWhole(stream: Output): void {
  stream._write = (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(stream.fd, chunk, at);
    } catch (error) {
      return done(error instanceof Error ? error : new Error(String(error)));
    }
    done();
  };
}
