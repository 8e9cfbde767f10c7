import { spawn } from "node:child_process";
import { closeSync, fstatSync, readSync } from "node:fs";
import { dirname } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { openOutputFileSync } from "@codex/file-lock";
import { BackgroundError } from "./errors.js";
import { LOG_TAIL_BYTES, START_MS } from "./limits.js";
import { removeOldFiles } from "./old-files.js";
import type { SocketPlace } from "./socket-place.js";

/** A program that listens at a place, and then writes READY to the descriptor READY_FD. */
export interface ServerProgram {
  argv: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
}

/** The descriptor on which a starting server writes READY, or why it cannot listen; then it closes it. */
export const READY_FD = 3;
/** Written once the server listens. */
export const READY = "ready\n";

/**
 * Starts a server that outlives this process: in its own session, without a terminal, with output to its log. Resolves when it
 * listens.
 * @throws BackgroundError `start_failed` with the end of its output
 */
export async function startServer(place: SocketPlace, { argv, cwd, env }: ServerProgram): Promise<void> {
  const [program, ...args] = argv;
  removeOldFiles(dirname(place.path));
  const log = openOutputFileSync(place.log, { flags: "a+", mode: 0o600 });
  const from = fstatSync(log).size;
  try {
    const child = spawn(program, args, { cwd, env: { ...env }, detached: true, stdio: ["ignore", log, log, "pipe"] });
    const failed = new Promise<string>((resolve) => child.once("error", (error) => resolve(error.message)));
    // Without free descriptors there is an error, and no streams.
    if (child.pid === undefined) throw notStarted(await failed);
    const ready = child.stdio[READY_FD] as Readable; // a pipe, as asked for above
    const timer = setTimeout(() => ready.destroy(), START_MS);
    const report = await Promise.race([text(ready).catch(() => `not ready within ${START_MS} ms`), failed]);
    clearTimeout(timer);
    ready.destroy();
    child.unref();
    if (report === READY) return;
    child.kill("SIGKILL");
    throw notStarted(report.trim() || readTail(log, from) || "it ended at once");
  } finally {
    closeSync(log);
  }
}

const notStarted = (reason: string) =>
  new BackgroundError("start_failed", `the background server did not start: ${reason}`);

/** The end of what was appended to a log since it had `from` bytes. */
function readTail(log: number, from: number): string {
  const { size } = fstatSync(log);
  const start = Math.max(from, size - LOG_TAIL_BYTES);
  const bytes = Buffer.alloc(Math.max(0, size - start));
  return bytes.toString("utf8", 0, readSync(log, bytes, 0, bytes.length, start)).trim();
}
