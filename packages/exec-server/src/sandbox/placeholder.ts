import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmdirSync,
  utimesSync,
} from "node:fs";
import { setTimeout } from "node:timers/promises";
import { errnoOf, StartError } from "../process/errors.js";
import type { Native } from "../process/native.js";
import { MAX_PLACEHOLDER_TRIES } from "./limits.js";

/**
 * Keeps a name free while a sandbox runs: a mount needs something to lie on, so an empty directory is made on the host.
 * Everybody who relies on it holds a shared lock of it, in whatever process; it goes with the last of them. One that was
 * left behind by a host that died is known by its time, and goes with the next sandbox.
 */
export interface Placeholder {
  path: string;
  /** Removes the directory when nobody else relies on it and nothing was put there. Idempotent. */
  release(): void;
}

/** Seconds since 1970 that stand for "made by a sandbox"; whoever puts something there changes it. */
const MARK_S = 0x5a4d;

/**
 * Undefined where nobody can make the name: the directory around it cannot be written by this user.
 * @throws StartError when the name is taken by something else, or is locked for too long
 */
export async function holdPlaceholder(path: string, native: Native): Promise<Placeholder | undefined> {
  for (let tries = 0; tries < MAX_PLACEHOLDER_TRIES; tries += 1) {
    try {
      mkdirSync(path, { mode: 0o755 });
      utimesSync(path, MARK_S, MARK_S);
    } catch (cause) {
      const code = errnoOf(cause);
      if (code === "EACCES" || code === "EROFS" || code === "EPERM") return undefined;
      if (code !== "EEXIST" && code !== "ENOENT") throw unprotected(path, String(code ?? cause), cause);
    }
    const held = tryHold(path, native);
    if (held !== undefined) return held;
    await setTimeout(1);
  }
  throw unprotected(path, `it stayed locked or kept changing for ${MAX_PLACEHOLDER_TRIES} ms`);
}

/** Undefined when the directory went away or is just being removed. */
function tryHold(path: string, native: Native): Placeholder | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw unprotected(path, "it is not a directory", cause);
  }
  if (!native.lock(fd, "shared") || !isSame(fd, path)) {
    closeSync(fd);
    return undefined;
  }
  let released = false;
  return {
    path,
    release() {
      if (released) return;
      released = true;
      if (native.lock(fd, "exclusive") && isSame(fd, path) && isUnused(fd, path)) removeEmpty(path);
      closeSync(fd);
    },
  };
}

/** The directory at the path is the one that was opened. */
function isSame(fd: number, path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  const held = fstatSync(fd);
  return there?.ino === held.ino && there.dev === held.dev;
}

const isUnused = (fd: number, path: string): boolean =>
  Math.floor(fstatSync(fd).mtimeMs / 1000) === MARK_S && readdirSync(path).length === 0;

function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Somebody put something there just now: it is theirs.
  }
}

const unprotected = (path: string, problem: string, cause?: unknown) =>
  new StartError("sandbox_invalid", `the sandbox cannot keep \`${path}\` from being made: ${problem}`, { cause });
