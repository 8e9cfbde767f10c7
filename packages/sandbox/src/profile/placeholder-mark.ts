import { lstatSync, readdirSync } from "node:fs";
import { basename } from "node:path/posix";

/** Modification time of placeholders, seconds since 1970; it changes when something is created there. */
export const MARK_S = 0x5a4d;

/** Whether a path only reserves its name, for this sandbox or another. */
export const isPlaceholder = (path: string): boolean => {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined || Math.floor(there.mtimeMs / 1000) !== MARK_S) return false;
  return there.isDirectory()
    ? readdirSync(path).length === 0
    : there.isFile() && (there.size === 0 || isGitCommonFile(path));
};

/**
 * Whether a path is the file by which a git directory refers to another one for its configuration. Git fails on a directory of
 * this name; a file that refers to the git directory itself means the same as none.
 */
export const isGitCommonFile = (path: string): boolean => basename(path) === "commondir";

/** Content of that file as a placeholder. */
export const OWN_COMMON_DIRECTORY = ".";
