import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { withFileLock } from "@codex/file-lock";
import type { ThreadEntry, ThreadRecorder } from "../history/thread-entry.js";
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
  /** The last line is unterminated. */
  readonly isTorn: boolean;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** @throws FileLockError while another process writes the file */
export async function openThreadFile({ path, meta, isTorn, now }: ThreadFileOptions): Promise<ThreadFile> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const release = await holdLock(`${path}.lock`);
  const handle = await open(path, "a", 0o600).catch(async (error: unknown) => {
    await release();
    throw error;
  });
  let needsLineEnd = isTorn;
  let last: Promise<void> = Promise.resolve();
  const write = async (line: string) => {
    const text = needsLineEnd ? `\n${line}` : line;
    needsLineEnd = true; // until the whole line is written
    await handle.appendFile(text);
    needsLineEnd = false;
  };
  const append = (line: string): Promise<void> => {
    const written = last.then(() => write(line));
    last = written.catch(() => {});
    return written;
  };
  const timestamp = () => new Date(now()).toISOString();
  let closing: Promise<void> | undefined;
  const close = async () => {
    await last;
    await handle.close();
    await release();
  };
  if (meta !== undefined) {
    await append(`${JSON.stringify({ timestamp: meta.timestamp, type: "session_meta", payload: meta })}\n`);
  }
  return {
    path,
    append: (entry: ThreadEntry) => append(renderEntry(entry, timestamp())),
    close: () => {
      closing ??= close();
      return closing;
    },
  };
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
