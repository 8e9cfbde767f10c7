import { randomBytes } from "node:crypto";
import { closeSync, constants, lstatSync, openSync, readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { STALE_NAME_MS } from "../limits.js";

/** A file that is deleted with its last descriptor, opened for reading and writing, and again for reading only. */
export interface UnnamedFile {
  file: number;
  reader: number;
}

/**
 * Opens a new unnamed file that only this user can read. On Linux it never has a name, so that nothing is left when this
 * process is killed. Where the file system does not support that, it briefly has a name, and stale names are removed first.
 * @throws a system error
 */
export function openUnnamed(directory: string, isSupported = process.platform === "linux"): UnnamedFile {
  const opened: number[] = [];
  const open = (path: string, flags: number): number => {
    const fd = openSync(path, flags, 0o600);
    opened.push(fd);
    return fd;
  };
  try {
    if (!isSupported) throw new Error("unnamed files are not supported on this system");
    const file = open(directory, constants.O_RDWR | O_TMPFILE);
    return { file, reader: open(`/proc/self/fd/${file}`, constants.O_RDONLY) };
  } catch {
    for (const fd of opened.splice(0)) closeSync(fd);
  }
  sweep(directory);
  const path = join(directory, `${PREFIX}${randomBytes(9).toString("hex")}`);
  const { O_RDWR, O_RDONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
  try {
    const file = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
    return { file, reader: open(path, O_RDONLY | O_NOFOLLOW) };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    throw error;
  } finally {
    if (opened.length > 0) unlinkSync(path);
  }
}

const PREFIX = "codex-unnamed-";

/** fcntl.h of Linux: `__O_TMPFILE | O_DIRECTORY`; the latter depends on the architecture. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;

/** Removes names of this user that are old enough to be stale. */
function sweep(directory: string): void {
  try {
    for (const name of readdirSync(directory)) if (name.startsWith(PREFIX)) removeStale(join(directory, name));
  } catch {
    // Creating the file will report it.
  }
}

function removeStale(path: string): void {
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (there === undefined || !there.isFile() || there.uid !== process.getuid?.()) return;
  if (Date.now() - there.mtimeMs > STALE_NAME_MS) unlinkSync(path);
}
