import type { Libc } from "../libc/libc.js";

/** Advisory locks of flock(2). Linux. */
export interface FileLocks {
  /**
   * Locks an open file or directory without waiting; a lock that is already held is converted. False when another process
   * has it. The lock ends when the descriptor is closed.
   */
  lock(fd: number, kind: "shared" | "exclusive"): boolean;
}

/** sys/file.h of Linux. */
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;

/** @param getLibc called with the first lock */
export const createFileLocks = (getLibc: () => Libc): FileLocks => ({
  lock: (fd, kind) => getLibc().flock(fd, (kind === "shared" ? LOCK_SH : LOCK_EX) | LOCK_NB) === 0,
});
