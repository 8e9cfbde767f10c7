import { closeSync, constants, fstatSync, openSync, readlinkSync } from "node:fs";
import { StartError } from "@codex/exec-backend";

/**
 * Opens paths without symbolic links, in their order, so that they cannot be replaced before they are mounted. The
 * caller closes the descriptors; on a throw there are none.
 * @throws PathsChangedError for a path that now refers to something else
 */
export function openSources(paths: readonly string[]): number[] {
  const sources: number[] = [];
  try {
    for (const path of paths) sources.push(openSource(path));
    return sources;
  } catch (error) {
    for (const fd of sources) closeSync(fd);
    throw error;
  }
}

/** O_PATH of asm-generic/fcntl.h, which Node does not name: nothing is read, and no permission to read is needed. */
const O_PATH = 0o10000000;

/** As `openSources`, for one path. */
export function openSource(path: string): number {
  let fd: number;
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
  } catch (cause) {
    if (isTooMany(cause)) throw cause;
    throw new PathsChangedError(`\`${path}\` was removed while the sandbox was created`, cause);
  }
  // With these flags a link itself is opened as well.
  if (readlinkSync(`/proc/self/fd/${fd}`) === path && !fstatSync(fd).isSymbolicLink()) return fd;
  closeSync(fd);
  throw new PathsChangedError(`\`${path}\` was replaced while the sandbox was created`);
}

const isTooMany = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "EMFILE" || error.code === "ENFILE");

/** Paths have changed since they were resolved: another sandbox started or ended, or a file was changed. */
export class PathsChangedError extends StartError {
  constructor(problem: string, cause?: unknown) {
    super("sandbox_invalid", `the sandbox cannot be enforced: ${problem}`, { cause });
  }
}
