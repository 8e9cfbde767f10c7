import { lstatSync, readdirSync } from "node:fs";
import { basename } from "node:path/posix";

/** Seconds since 1970 that stand for "made by a sandbox"; whoever puts something there changes it. */
export const MARK_S = 0x5a4d;

/** Nothing but a name that is kept free, for this sandbox or another. */
export const isPlaceholder = (path: string): boolean => {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined || Math.floor(there.mtimeMs / 1000) !== MARK_S) return false;
  return there.isDirectory() ? readdirSync(path).length === 0 : there.isFile() && isGitCommonFile(path);
};

/**
 * Where a git directory could say that another one holds its configuration. Git fails on a directory of this name; a
 * file that names the git directory itself says what holds without it.
 */
export const isGitCommonFile = (path: string): boolean => basename(path) === "commondir";

/** What the file says that stands for none. */
export const OWN_COMMON_DIRECTORY = ".";
