import { closeSync, readdirSync } from "node:fs";
import { hasFunction } from "./bind.js";
import type { Libc } from "./libc.js";

/** fcntl.h; the last of Linux. */
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const F_DUPFD_CLOEXEC = 1030;

/** Another descriptor for the same file, `least` or higher, that children do not inherit; -1 when there are too many. Linux. */
export const duplicate = ({ fcntl }: Pick<Libc, "fcntl">, fd: number, least = 0): number =>
  fcntl(fd, F_DUPFD_CLOEXEC, "int", least);

/** Children started from now on do not inherit the descriptor. */
export const closeOnExec = ({ fcntl }: Pick<Libc, "fcntl">, fd: number): unknown =>
  fcntl(fd, F_SETFD, "int", FD_CLOEXEC);

/** Numbers below it are those of the standard streams, also in a process that was started without one of them. */
export const FIRST_AFTER_STREAMS = 3;

/** The same file under a number that is not that of a standard stream. Takes ownership of `fd`. @throws an error with the code EMFILE */
export function raiseAboveStreams(libc: Libc, fd: number): number {
  if (fd >= FIRST_AFTER_STREAMS) return fd;
  const raised = duplicate(libc, fd, FIRST_AFTER_STREAMS);
  closeSync(fd);
  if (raised === -1) throw tooManyFiles(libc);
  return raised;
}

/** sys/resource.h of Linux, but for MIPS and SPARC. */
const RLIMIT_NOFILE = 7;

/** The error of a call that found no free descriptor, with the limit of this process; rarely it is the host's. */
export function tooManyFiles(libc: Partial<Pick<Libc, "prlimit">>): Error {
  const limits = new BigUint64Array(2);
  const isKnown = hasFunction(libc, "prlimit") && libc.prlimit?.(0, RLIMIT_NOFILE, null, limits) === 0;
  const bound = isKnown ? `; this process may have ${limits[0]} (\`ulimit -n\`)` : "";
  return Object.assign(new Error(`too many open files${bound}`), { code: "EMFILE" });
}

/**
 * No child started from now on, by whatever means, inherits a descriptor of this process that is open now, but for the
 * standard streams. Linux; on macOS Node itself starts children with all others closed.
 */
export function closeInheritedOnExec(libc: Libc): void {
  if (process.platform !== "linux") return;
  for (const fd of listDescriptors(FIRST_AFTER_STREAMS)) closeOnExec(libc, fd);
}

/** Numbers of the open descriptors of this process from `least` on, that of the listing itself included. Linux; empty without /proc. */
export function listDescriptors(least: number): number[] {
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((fd) => fd >= least);
  } catch {
    return [];
  }
}
