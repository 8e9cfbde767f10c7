import { randomUUID } from "node:crypto";
import { chmodSync, closeSync, type FSWatcher, lstatSync, renameSync, statSync, watch } from "node:fs";
import { basename, dirname, join } from "node:path/posix";
import { errnoOf } from "@codex/exec-backend";
import { isGitDirectory } from "../profile/git-directory.js";
import type { HostFiles } from "../profile/host-files.js";
import { isPlaceholder } from "../profile/placeholder-mark.js";
import type { FreeName } from "../wrapped-command.js";
import { openSource, PathsChangedError } from "./open-sources.js";

/**
 * Keeps a name free. @param onTaken called whenever something appears, after it was moved; without it, nothing is watched
 * @returns undefined where it cannot be watched
 * @throws PathsChangedError if something is there already
 */
export function openFreeName(path: string, files: HostFiles, onTaken?: () => void): FreeName | undefined {
  const fd = openSource(dirname(path));
  // What was opened, wherever it is.
  const directory = `/proc/self/fd/${fd}`;
  const own = basename(path);
  let watcher: FSWatcher | undefined;
  let problem: string | undefined;
  let isClosed = false;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    watcher?.close();
    closeSync(fd);
  };
  const findTaken = (): string | undefined => {
    if (isThere(join(directory, own))) return own;
    return isGitDirectory(directory, files) ? GIT_DIRECTORY_MARK : undefined;
  };
  const moveTaken = () => {
    let moved: string | undefined;
    for (let name = findTaken(), moves = 0; name !== undefined && moves < MAX_MOVES; name = findTaken(), moves += 1) {
      // It is empty, and whoever runs a sandbox with it removes it.
      if (name === own && isPlaceholder(join(directory, name))) break;
      const aside = `${name}-from-sandbox-${randomUUID()}`;
      renameSync(join(directory, name), join(directory, aside));
      moved = `${describe(join(dirname(path), name))} and is now \`${join(dirname(path), aside)}\``;
    }
    return moved;
  };
  const clear = () => {
    if (isClosed) return undefined;
    try {
      const moved = withAccess(directory, moveTaken);
      problem = moved ?? problem;
      return moved;
    } catch (error) {
      // Unless another sandbox has just moved it.
      const code = errnoOf(error) ?? String(error);
      if (code === "ENOENT") return undefined;
      problem = `${describe(path)} and could not be moved (${code}): remove it before git runs there`;
      return problem;
    }
  };
  const check = (_event: string, name: string | null) => {
    // Another sandbox may have moved it aside already, and the command of this one may have made it.
    if (isClosed || (name !== own && findTaken() === undefined)) return;
    problem ??= describe(path);
    clear();
    onTaken?.();
  };
  try {
    if (onTaken !== undefined) {
      watcher = watch(directory, { persistent: false }, check);
      watcher.on("error", () => {}); // the directory was removed
    }
  } catch {
    close();
    return undefined;
  }
  if (findTaken() !== undefined) {
    close();
    throw new PathsChangedError(`\`${path}\` was created while the sandbox was created`);
  }
  return {
    path,
    get problem() {
      return problem;
    },
    isTaken: () => !isClosed && findTaken() !== undefined,
    clear,
    close,
  };
}

/** Without it, git takes no directory for a git directory. */
const GIT_DIRECTORY_MARK = "HEAD";
const MAX_MOVES = 2;
const OWNER_ALL = 0o700;

const describe = (path: string): string => `\`${path}\`, which git would trust, was created`;

/** The command may have taken this user's permission for the directory. */
function withAccess<Value>(directory: string, work: () => Value): Value {
  const { mode } = statSync(directory);
  const isOpen = (mode & OWNER_ALL) === OWNER_ALL;
  if (!isOpen) chmodSync(directory, mode | OWNER_ALL);
  try {
    return work();
  } finally {
    if (!isOpen) chmodSync(directory, mode);
  }
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false; // the directory cannot be searched
  }
}
