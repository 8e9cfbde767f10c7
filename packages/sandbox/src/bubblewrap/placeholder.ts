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
 * Reserves a path while a sandbox runs: a mount needs a mount point, so an empty directory is created on the host, or a file
 * where a directory would disturb programs outside. Every sandbox that relies on it, in whatever process, has a shared lock
 * on it, and the last one removes it. One that a killed host left behind is recognized by its modification time,
 * and the next sandbox removes it.
 */
export interface Placeholder {
  path: string;
  /** Removes it if no other sandbox relies on it and nothing was created there. Called once; never rejects. */
  release(): Promise<void>;
}

/**
 * Undefined where the command cannot create the path either: this user cannot write to its directory. That directory is kept
 * open, so that nothing is created elsewhere if a link takes its place.
 * @throws StartError when something else is at the path, or it stays locked for too long
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

/** @param path for messages; `at` is the same path through the open directory. */
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
  // Linked when it is complete, so that it is never visible with other content.
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, `${OWN_COMMON_DIRECTORY}\n`, { flag: "wx", mode: 0o644 });
    utimesSync(draft, MARK_S, MARK_S);
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undefined when it is gone or being removed. */
function tryHold(at: string, path: string, native: Native): Held | undefined {
  let fd: number;
  try {
    const directory = isGitCommonFile(at) ? 0 : constants.O_DIRECTORY;
    fd = openSync(at, constants.O_RDONLY | directory | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    const code = errnoOf(cause);
    if (code === "ENOENT") return undefined;
    throw unprotected(path, code === "ENOTDIR" || code === "ELOOP" ? "it is not a directory" : String(code), cause);
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
        // Another process is changing it, and owns it now.
      } finally {
        closeSync(fd);
      }
    },
  };
}

/** Whether the path still refers to the file that was opened. */
function isSame(fd: number, path: string): boolean {
  const there = lstatSync(path, { throwIfNoEntry: false });
  const held = fstatSync(fd);
  return there?.ino === held.ino && there.dev === held.dev;
}

const isUnused = (fd: number, path: string): boolean =>
  Math.floor(fstatSync(fd).mtimeMs / 1000) === MARK_S && (isGitCommonFile(path) || readdirSync(path).length === 0);

/** Not on this thread: the kernel takes milliseconds while a mount on it is still being removed. */
const remove = (path: string): Promise<void> => (isGitCommonFile(path) ? rm(path) : rmdir(path)).catch(() => {}); // somebody has just put something there, and owns it

const unprotected = (path: string, problem: string, cause?: unknown) =>
  new StartError("sandbox_invalid", `the sandbox cannot keep \`${path}\` from being created: ${problem}`, { cause });
