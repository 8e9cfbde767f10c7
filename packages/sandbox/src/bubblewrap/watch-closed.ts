import { closeSync, type FSWatcher, fstatSync, lstatSync, statfsSync, watch } from "node:fs";
import { basename, dirname } from "node:path/posix";
import { CLOSED_IN_GIT_DIRECTORY } from "@codex/permissions";
import { MAX_WATCHED } from "../limits.js";
import { getAccess, type ProfileEntry, type RestrictedFiles } from "../profile/profile.js";
import { openSource } from "./open-sources.js";

/** Watches protected paths that could be replaced while a sandbox runs. */
export interface ClosedWatch {
  /** The path that was replaced; undefined as long as none was. */
  readonly replaced: string | undefined;
  /** Idempotent. */
  close(): void;
}

/**
 * Calls `onReplaced` once when one of the paths was replaced: its mount disappeared with it, and the new file is accessible.
 * This is noticed after the fact. Paths beyond a limit of the host are not watched.
 */
export function watchClosed(files: RestrictedFiles, tmpDir: string | undefined, onReplaced: () => void): ClosedWatch {
  const watchers: FSWatcher[] = [];
  const held: number[] = [];
  let replaced: string | undefined;
  let isClosed = false;
  const close = () => {
    isClosed = true;
    for (const watcher of watchers.splice(0)) watcher.close();
    for (const fd of held.splice(0)) closeSync(fd);
  };
  // Cleanup jobs remove files there, and a placeholder outside of any project is no reason to end a command.
  const isTemporary = (path: string) => dirname(path) === "/tmp" || dirname(path) === tmpDir;
  const watched = listReplaceable(files, isTemporary);
  const around = new Set(listAround(files).filter((path) => !watched.includes(path)));
  for (const path of [...watched, ...around].slice(0, MAX_WATCHED)) {
    const before = identify(path);
    if (before === undefined) continue;
    const fd = isLayered(path) ? tryOpen(path) : undefined;
    if (fd !== undefined) held.push(fd);
    const isSame = () => (fd === undefined ? identify(path) === before : isAt(path, fd));
    const check = (_event?: unknown, name?: unknown) => {
      // Changes inside of a directory are reported under another name, so a busy one is not checked each time.
      if (around.has(path) && typeof name === "string" && name !== basename(path)) return;
      if (isClosed || isSame()) return;
      replaced = path;
      close();
      onReplaced();
    };
    try {
      const watcher = watch(path, { persistent: false }, check);
      watcher.on("error", () => check());
      watchers.push(watcher);
    } catch {
      // Too many watches, or it is gone: it is not watched.
    }
  }
  return {
    get replaced() {
      return replaced;
    },
    close,
  };
}

/** Protected paths in directories of the host, where they can be replaced. */
const listReplaceable = (files: RestrictedFiles, isTemporary: (path: string) => boolean): string[] =>
  files.entries
    .filter((entry) => isReplaceable(entry, files) && !(entry.missing && isTemporary(entry.path)))
    .map(({ path }) => path);

/** Directories around protected paths: a replaced one has none of their mounts. Those in the root are assumed to stay. */
function listAround(files: RestrictedFiles): string[] {
  const around = new Set<string>();
  for (const { path, access, missing } of files.entries) {
    if (missing || (access !== "deny" && (access === "write" || getAccess(files, dirname(path)) !== "write"))) continue;
    for (let at = dirname(path); dirname(at) !== "/" && at !== "/"; at = dirname(at)) around.add(at);
  }
  return [...around].filter((path) => getAccess(files, path) !== "deny");
}

function isReplaceable({ path, access, mirror, mirrored }: ProfileEntry, files: RestrictedFiles): boolean {
  if (access === "write" || mirror !== undefined || mirrored || path === "/") return false;
  const around = dirname(path);
  if (getAccess(files, around) === "write") {
    // Of the names that are read-only in a git directory, only these make git run something.
    return !files.commits?.includes(around) || CLOSED_IN_GIT_DIRECTORY.includes(basename(path));
  }
  const isRemade = files.entries.some((entry) => entry.path === around && entry.mirror !== undefined);
  return access === "deny" && !isRemade && getAccess(files, around) === "read";
}

/** Differs for a file created later, even with the same inode number. */
function identify(path: string): string | undefined {
  try {
    const there = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    return there && `${there.dev}:${there.ino}:${there.birthtimeNs}`;
  } catch {
    return undefined; // a directory around it was closed or replaced
  }
}

/** Whether it is on an overlay, as in a container: a file of a lower layer gets another birth time with its first change. */
function isLayered(path: string): boolean {
  try {
    return statfsSync(path).type === OVERLAYFS;
  } catch {
    return false;
  }
}

/** OVERLAYFS_SUPER_MAGIC of linux/magic.h. */
const OVERLAYFS = 0x794c7630;

function tryOpen(path: string): number | undefined {
  try {
    return openSource(path);
  } catch {
    return undefined; // no descriptor is left, or it was just removed
  }
}

/** Whether it is still the open file, whose inode number no other file gets as long as it is open. */
function isAt(path: string, fd: number): boolean {
  try {
    const there = lstatSync(path, { throwIfNoEntry: false, bigint: true });
    const held = fstatSync(fd, { bigint: true });
    return there?.ino === held.ino && there.dev === held.dev;
  } catch {
    return false;
  }
}
