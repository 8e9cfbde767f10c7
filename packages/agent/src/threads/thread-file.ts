import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { withFileLock } from "@codex/file-lock";
import { messageOf, stringifyWellFormed } from "@codex/values";
import { type ThreadEntry, type ThreadRecorder, ThreadWriteError } from "../history/thread-entry.js";
import type { ThreadLimits } from "../limits.js";
import { openLines } from "./line-file.js";
import { renderEntry, type ThreadMeta } from "./rollout-line.js";

/** A thread's file, opened for writing by one process at a time. */
export interface ThreadFile extends ThreadRecorder {
  readonly path: string;
  /** Waits for pending writes, and releases the lock. Idempotent. */
  close(): Promise<void>;
}

/** Options of {@link openThreadFile}. */
export interface ThreadFileOptions {
  readonly path: string;
  /** First line of a new file; undefined: the file exists. */
  readonly meta: ThreadMeta | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Those of its readers: what they would refuse is not written. */
  readonly limits: Pick<ThreadLimits, "lineBytes" | "fileBytes">;
}

/**
 * Opens a thread's file. A line is written before `append` resolves, and survives the end of this process; `call_started` is on the
 * disk, and survives the end of the host, with all lines before it. A line that could not be written is written before the next one,
 * except `call_started`, as its call is not made, and one that readers would refuse.
 * @throws FileLockError while another process writes the file; ThreadWriteError when it cannot be written
 */
export async function openThreadFile(
  { path, meta, now, limits }: ThreadFileOptions,
  openFile = openLines,
): Promise<ThreadFile> {
  const fail = (error: unknown) => Promise.reject(asWriteError(path, error));
  await mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch(fail);
  const release = await holdLock(`${path}.lock`);
  const lines = await openFile(path).catch(async (error: unknown) => {
    await release();
    return fail(error);
  });
  let last: Promise<void> = Promise.resolve();
  const unwritten: string[] = [];
  const writeRest = async () => {
    for (let line = unwritten[0]; line !== undefined; line = unwritten[0]) {
      await lines.write(line);
      unwritten.shift();
    }
  };
  const write = async (line: string, isStart: boolean) => {
    try {
      await writeRest();
      await lines.write(line);
    } catch (error) {
      if (!isStart) unwritten.push(line);
      throw error;
    }
  };
  const append = (line: string, isStart = false): Promise<void> => {
    const written = last.then(() => {
      checkLine(line, lines.size, limits);
      return write(line, isStart);
    });
    last = written.catch(() => {});
    return (isStart ? written.then(lines.sync) : written).catch(fail);
  };
  const timestamp = () => new Date(now()).toISOString();
  let closing: Promise<void> | undefined;
  const close = async () => {
    await last;
    await writeRest().catch(() => {}); // its append has failed with the reason
    await lines.close();
    await release();
  };
  if (meta !== undefined) {
    const line = `${stringifyWellFormed({ timestamp: meta.timestamp, type: "session_meta", payload: meta })}\n`;
    await append(line).catch(async (error: unknown) => {
      await close();
      throw error;
    });
  }
  return {
    path,
    append: (entry: ThreadEntry) => append(renderEntry(entry, timestamp()), entry.type === "call_started"),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** @throws for a line that would make the file unreadable */
function checkLine(line: string, size: number, { lineBytes, fileBytes }: ThreadFileOptions["limits"]): void {
  const bytes = Buffer.byteLength(line);
  if (bytes > lineBytes) throw new Error(`an entry has ${bytes} bytes, the limit is ${lineBytes} bytes`);
  if (size + bytes > fileBytes) {
    throw new Error(
      `with an entry of ${bytes} bytes it would have ${size + bytes} bytes, the limit is ${fileBytes} bytes`,
    );
  }
}

/** Acquires the lock; resolves to a function that releases it. */
function holdLock(path: string): Promise<() => Promise<void>> {
  return new Promise((resolve, reject) => {
    let release = () => {};
    const released = new Promise<void>((settle) => {
      release = settle;
    });
    const held = withFileLock(path, { timeoutMs: 0 }, () => {
      resolve(async () => {
        release();
        await held;
      });
      return released;
    });
    held.catch(reject);
  });
}

const asWriteError = (path: string, error: unknown): ThreadWriteError =>
  new ThreadWriteError(`the thread's file ${path} cannot be written: ${messageOf(error)}`, { cause: error });
