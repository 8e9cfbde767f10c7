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
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { rmdir, unlink } from "node:fs/promises";
import { basename, dirname } from "node:path/posix";
import { setTimeout } from "node:timers/promises";
import { errnoOf, StartError } from "@codex/exec-backend";
import type { Native } from "@codex/native";
import { PLACEHOLDER_DEADLINE_MS } from "../limits.js";
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

/** The placeholders of one process: those at the same path share descriptors, however many sandboxes rely on it. */
export interface Placeholders {
  /**
   * Undefined where the command cannot create the path either: this user cannot write to its directory. That directory is kept
   * open, so that nothing is created elsewhere if a link takes its place.
   * @throws StartError when something else is at the path, or it stays locked for too long
   */
  hold(path: string, kind: "directory" | "file"): Promise<Placeholder | undefined>;
}

/** A resource that several holders share; the last one closes it. */
interface Shared<Value> {
  value: Value;
  holders: number;
}

export function createPlaceholders(native: Native): Placeholders {
  const directories = new Map<string, Shared<number>>();
  const held = new Map<string, Shared<Held>>();
  /** A directory that this process has open already, unless it was moved or replaced. */
  const openDirectory = (path: string): Shared<number> => {
    const known = directories.get(path);
    if (known !== undefined && isAtPath(known.value, path)) {
      known.holders += 1;
      return known;
    }
    const opened = { value: openSource(path), holders: 1 };
    directories.set(path, opened);
    return opened;
  };
  const closeDirectory = (path: string, directory: Shared<number>) => {
    directory.holders -= 1;
    if (directory.holders > 0) return;
    if (directories.get(path) === directory) directories.delete(path);
    closeSync(directory.value);
  };
  const join = (path: string): Placeholder | undefined => {
    const known = held.get(path);
    if (known === undefined || !known.value.isUsable()) return undefined;
    known.holders += 1;
    return share(path, known);
  };
  const share = (path: string, shared: Shared<Held>): Placeholder => ({
    path,
    async release() {
      shared.holders -= 1;
      if (shared.holders > 0) return;
      // From here on, whoever wants it opens it again, and waits until it is removed.
      if (held.get(path) === shared) held.delete(path);
      await shared.value.release();
    },
  });
  const open = async (path: string, kind: Kind): Promise<Placeholder | undefined> => {
    const name = dirname(path);
    const directory = openDirectory(name);
    const close = () => closeDirectory(name, directory);
    try {
      const found = await holdWithin(`/proc/self/fd/${directory.value}/${basename(path)}`, path, kind, native);
      if (found === undefined) {
        close();
        return undefined;
      }
      const shared = { value: { ...found, release: () => found.release().finally(close) }, holders: 1 };
      held.set(path, shared);
      return share(path, shared);
    } catch (error) {
      close();
      throw error;
    }
  };
  const opening = new Map<string, Promise<unknown>>();
  return {
    async hold(path, kind) {
      // Another sandbox of this process may be about to have it.
      while (opening.has(path)) await opening.get(path);
      const joined = join(path);
      if (joined !== undefined) return joined;
      const opened = open(path, kind);
      opening.set(
        path,
        opened.catch(() => {}).finally(() => opening.delete(path)),
      );
      return opened;
    },
  };
}

const isAtPath = (fd: number, path: string): boolean => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`) === path;
  } catch {
    return false;
  }
};

/** @param path for messages; `at` is the same path through the open directory. */
async function holdWithin(at: string, path: string, kind: Kind, native: Native): Promise<Held | undefined> {
  const started = performance.now();
  for (let waitMs = 1; performance.now() - started < PLACEHOLDER_DEADLINE_MS; waitMs = Math.min(waitMs * 2, 16)) {
    try {
      make(at, kind);
    } catch (cause) {
      const code = errnoOf(cause);
      if (code === "EACCES" || code === "EROFS" || code === "EPERM") return undefined;
      if (code !== "EEXIST" && code !== "ENOENT") throw unprotected(path, String(code ?? cause), cause);
    }
    const held = tryHold(at, path, kind, native);
    if (held !== undefined) return held;
    await setTimeout(waitMs);
  }
  throw unprotected(path, `it stayed locked or kept changing for ${PLACEHOLDER_DEADLINE_MS} ms`);
}

type Kind = "directory" | "file";

interface Held {
  /** Whether the path still refers to it. */
  isUsable(): boolean;
  release(): Promise<void>;
}

function make(path: string, kind: Kind): void {
  if (kind === "directory") {
    mkdirSync(path, { mode: 0o755 });
    utimesSync(path, MARK_S, MARK_S);
    return;
  }
  // Linked when it is complete, so that it is never visible with other content.
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, isGitCommonFile(path) ? `${OWN_COMMON_DIRECTORY}\n` : "", { flag: "wx", mode: 0o644 });
    utimesSync(draft, MARK_S, MARK_S);
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}

/** Undefined when it is gone or being removed. */
function tryHold(at: string, path: string, kind: Kind, native: Native): Held | undefined {
  let fd: number;
  try {
    const directory = kind === "file" ? 0 : constants.O_DIRECTORY;
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
    isUsable: () => isSame(fd, at),
    async release() {
      try {
        if (native.lock(fd, "exclusive") && isSame(fd, at) && isUnused(fd, at)) await remove(fd, at);
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

const isUnused = (fd: number, path: string): boolean => {
  const there = fstatSync(fd);
  if (Math.floor(there.mtimeMs / 1000) !== MARK_S) return false;
  return there.isDirectory() ? readdirSync(path).length === 0 : there.size === 0 || isGitCommonFile(path);
};

/** Not on this thread: the kernel takes milliseconds while a mount on it is still being removed. */
const remove = (fd: number, path: string): Promise<void> =>
  (fstatSync(fd).isDirectory() ? rmdir(path) : unlink(path)).catch(() => {}); // somebody has just put something there, and owns it

const unprotected = (path: string, problem: string, cause?: unknown) =>
  new StartError("sandbox_invalid", `the sandbox cannot keep \`${path}\` from being created: ${problem}`, { cause });
