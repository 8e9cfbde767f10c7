import { randomUUID } from "node:crypto";
import { link, lstat, rm, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { readPlainFile } from "@codex/plain-file";
import { messageOf } from "@codex/values";
import { MAX_LOCK_BYTES, SAVE_LOCK_RETRY_MS, SAVE_LOCK_STALE_MS, SAVE_LOCK_TIMEOUT_MS } from "./limits.js";

/** How long to wait for a lock. */
export interface FileLockOptions {
  /** Longest wait, in milliseconds. */
  readonly timeoutMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Another process held the lock for longer than the timeout. */
export class FileLockError extends Error {
  readonly code = "lock_timeout";

  constructor(path: string, timeoutMs: number) {
    super(`${path}: the lock is still held after ${timeoutMs} ms; remove the file if its owner is gone`);
    this.name = "FileLockError";
  }
}

/**
 * Runs `body` while this process alone holds the lock file `path`, and removes the file afterwards, also on failure.
 * A lock whose owner has ended, or that is old and belongs to another host, is broken.
 */
export async function withFileLock<T>(path: string, options: FileLockOptions, body: () => Promise<T>): Promise<T> {
  await acquireLock(path, options);
  try {
    return await body();
  } finally {
    await rm(path, { force: true });
  }
}

async function acquireLock(path: string, options: FileLockOptions): Promise<void> {
  const { timeoutMs = SAVE_LOCK_TIMEOUT_MS, now = Date.now } = options;
  const deadline = now() + timeoutMs;
  while (!(await createLock(path))) {
    if (await isAbandoned(path, now)) await breakLock(path, now);
    else if (now() > deadline) throw new FileLockError(path, timeoutMs);
    else await wait(SAVE_LOCK_RETRY_MS);
  }
}

/**
 * Returns false when the lock is held. The file appears with its owner in it: a process that is killed meanwhile leaves no lock
 * without one, which nobody could recognize as abandoned.
 */
async function createLock(path: string): Promise<boolean> {
  if (await isThere(path)) return false;
  const whole = `${path}.${process.pid}-${randomUUID()}`;
  try {
    const owner = `${process.pid} ${hostname()}\n`;
    await writeFile(whole, owner, { flag: "wx" });
    await link(whole, path).catch((error: unknown) => {
      // Some file systems have no hard links.
      if (!NO_LINKS.some((code) => hasCode(error, code))) throw error;
      return writeFile(path, owner, { flag: "wx" });
    });
    return true;
  } catch (cause) {
    if (hasCode(cause, "EEXIST")) return false;
    const { code } = cause as NodeJS.ErrnoException;
    // Of the lock that the caller knows; a write that fails names no file.
    const message = messageOf(cause).replaceAll(whole, path);
    throw Object.assign(new Error(message.includes(path) ? message : `${path}: ${message}`, { cause }), { code });
  } finally {
    await rm(whole, { force: true });
  }
}

const NO_LINKS: readonly string[] = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"];

async function isAbandoned(path: string, now: () => number): Promise<boolean> {
  try {
    const [pid = "", host = ""] = String(await readPlainFile(path, { maxBytes: MAX_LOCK_BYTES }))
      .trim()
      .split(" ");
    if (host === hostname() && /^\d+$/.test(pid)) return !isAlive(Number(pid));
    return now() - (await stat(path)).mtimeMs > SAVE_LOCK_STALE_MS;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw new Error(`${path}: ${messageOf(error)}`, { cause: error });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/**
 * Only one process at a time checks again and removes: otherwise one of two that saw the same dead owner could remove the lock
 * that the other has acquired in the meantime.
 */
async function breakLock(path: string, now: () => number): Promise<void> {
  const breaking = `${path}.break`;
  if (!(await createLock(breaking))) {
    // Held only briefly: an old one was left by a process that died.
    if (now() - (await modifiedAt(breaking)) > SAVE_LOCK_STALE_MS) await rm(breaking, { force: true });
    return wait(SAVE_LOCK_RETRY_MS);
  }
  try {
    if (await isAbandoned(path, now)) await rm(path, { force: true });
  } finally {
    await rm(breaking, { force: true });
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Milliseconds since 1970; infinity for a file that is gone. */
async function modifiedAt(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.mtimeMs ?? Number.POSITIVE_INFINITY;
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
