import { closeSync, readdirSync } from "node:fs";
import { hasFunction } from "./bind.js";
import type { Libc } from "./libc.js";

/** fcntl.h; the last of Linux. */
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const F_DUPFD_CLOEXEC = 1030;

/** Duplicates a descriptor to a number of at least `least` that children do not inherit; -1 at the limit. Linux. */
export const duplicate = ({ fcntl }: Pick<Libc, "fcntl">, fd: number, least = 0): number =>
  fcntl(fd, F_DUPFD_CLOEXEC, "int", least);

/** Marks a descriptor close-on-exec: children started later do not inherit it. */
export const closeOnExec = ({ fcntl }: Pick<Libc, "fcntl">, fd: number): unknown =>
  fcntl(fd, F_SETFD, "int", FD_CLOEXEC);

/** The first descriptor after the standard streams, whose numbers are reserved even in a process that was started without them. */
export const FIRST_AFTER_STREAMS = 3;

/** Moves a descriptor above the numbers of the standard streams. Takes ownership of `fd`. @throws an error with the code EMFILE */
export function raiseAboveStreams(libc: Libc, fd: number): number {
  if (fd >= FIRST_AFTER_STREAMS) return fd;
  const raised = duplicate(libc, fd, FIRST_AFTER_STREAMS);
  closeSync(fd);
  if (raised === -1) throw tooManyFiles(libc);
  return raised;
}

/** sys/resource.h of Linux, except MIPS and SPARC. */
const RLIMIT_NOFILE = 7;

/** The error for too many open files, with the limit of this process; the limit of the host is rarely the cause. */
export function tooManyFiles(libc: Partial<Pick<Libc, "prlimit">>): Error {
  const limits = new BigUint64Array(2);
  const isKnown = hasFunction(libc, "prlimit") && libc.prlimit?.(0, RLIMIT_NOFILE, null, limits) === 0;
  const bound = isKnown ? `; this process may have ${limits[0]} (\`ulimit -n\`)` : "";
  return Object.assign(new Error(`too many open files${bound}`), { code: "EMFILE" });
}

/**
 * Marks all open descriptors of this process except the standard streams close-on-exec, so that no child inherits them,
 * however it is started. Linux; on macOS Node closes them in its children.
 */
export function closeInheritedOnExec(libc: Libc): void {
  if (process.platform !== "linux") return;
  for (const fd of listDescriptors(FIRST_AFTER_STREAMS)) closeOnExec(libc, fd);
}

/** Open descriptors of this process from `least` on, including that of the listing itself. Linux; empty without /proc. */
export function listDescriptors(least: number): number[] {
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((fd) => fd >= least);
  } catch {
    return [];
  }
}
