import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { basename, dirname } from "node:path/posix";
import { setTimeout } from "node:timers/promises";
import { errnoOf, StartError } from "@codex/exec-backend";
import type { Native } from "@codex/native";
import { MAX_PLACEHOLDER_TRIES } from "../limits.js";
import { isGitCommonFile, MARK_S, OWN_COMMON_DIRECTORY } from "../profile/placeholder-mark.js";
import { openSource } from "./open-sources.js";

/**
 * Keeps a name free while a sandbox runs: a mount needs something to lie on, so an empty directory is made on the host, or
 * a file where a directory would disturb programs outside.
 * Everybody who relies on it holds a shared lock of it, in whatever process; it goes with the last of them. One that was
 * left behind by a host that died is known by its time, and goes with the next sandbox.
 */
export interface Placeholder {
  path: string;
  /** Removes it when nobody else relies on it and nothing was put there. Called once; never rejects. */
  release(): Promise<void>;
}

/**
 * Undefined where nobody can make the name: the directory around it cannot be written by this user. The directory is held
 * on to, so that nothing is made elsewhere when a link takes its place.
 * @throws StartError when the name is taken by something else, or is locked for too long
 */
export async function holdPlaceholder(path: string, native: Native): Promise<Placeholder | undefined> {
  const around = openSource(dirname(path));
  try {
    const held = await holdWithin(`/proc/self/fd/${around}/${basename(path)}`, path, native);
    if (held === undefined) closeSync(around);
    return held && { path, release: () => held.release().finally(() => closeSync(around)) };
  } catch (error) {
    closeSync(around);
    throw error;
  }
}

/** @param path as it is told; `at` is the same by way of the directory that is held. */
async function holdWithin(at: string, path: string, native: Native): Promise<Held | undefined> {
  for (let tries = 0; tries < MAX_PLACEHOLDER_TRIES; tries += 1) {
    try {
      make(at);
    } catch (cause) {
      const code = errnoOf(cause);
      if (code === "EACCES" || code === "EROFS" || code === "EPERM") return undefined;
      if (code !== "EEXIST" && code !== "ENOENT") throw unprotected(path, String(code ?? cause), cause);
    }
    const held = tryHold(at, path, native);
    if (held !== undefined) return held;
    await setTimeout(1);
  }
  throw unprotected(path, `it stayed locked or kept changing for ${MAX_PLACEHOLDER_TRIES} ms`);
}

type Held = Pick<Placeholder, "release">;

function make(path: string): void {
  if (!isGitCommonFile(path)) {
    mkdirSync(path, { mode: 0o755 });
    utimesSync(path, MARK_S, MARK_S);
    return;
  }
  // At no time is there a file of this name with anything else in it.
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${OWN_COMMON_DIRECTORY}\n`, { flag: "wx", mode: 0o644 });
    utimesSync(draft, MARK_S, MARK_S);
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undefined when it went away or is just being removed. */
function tryHold(at: string, path: string, native: Native): Held | undefined {
  let fd: number;
  try {
    const directory = isGitCommonFile(at) ? 0 : constants.O_DIRECTORY;
    fd = openSync(at, constants.O_RDONLY | directory | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return undefined;
    throw unprotected(path, isGitCommonFile(at) ? "it cannot be read" : "it is not a directory", cause);
  }
  try {
    if (!native.lock(fd, "shared") || !isSame(fd, at)) {
      closeSync(fd);
      return undefined;
    }
  } catch (cause) {
    closeSync(fd);
    throw unprotected(path, "it cannot be locked", cause);
  }
  return {
    async release() {
      try {
        if (native.lock(fd, "exclusive") && isSame(fd, at) && isUnused(fd, at)) await remove(at);
      } catch {
        // It changes under our eyes: whoever does that owns it.
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** What is at the path is the one that was opened. */
function isSame(fd: number, path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  const held = fstatSync(fd);
  return there?.ino === held.ino && there.dev === held.dev;
}

const isUnused = (fd: number, path: string): boolean =>
  Math.floor(fstatSync(fd).mtimeMs / 1000) === MARK_S && (isGitCommonFile(path) || readdirSync(path).length === 0);

/** The kernel takes milliseconds where a mount on it is still being cleared away: not on this thread. */
const remove = (path: string): Promise<void> => (isGitCommonFile(path) ? rm(path) : rmdir(path)).catch(() => {}); // somebody put something there just now: it is theirs

const unprotected = (path: string, problem: string, cause?: unknown) =>
  new StartError("sandbox_invalid", `the sandbox cannot keep \`${path}\` from being made: ${problem}`, { cause });
