import { raiseAboveStreams, tooManyFiles } from "../libc/descriptors.js";
import type { Libc } from "../libc/libc.js";
import { MAX_ENLARGED_PIPES } from "../limits.js";
import { PIPE_BYTES } from "../output/read-memory.js";

/** Linux. */
export interface Pipes {
  /** A pipe whose ends children do not inherit. @throws an error with the code EMFILE */
  openPipe(): { read: number; write: number };
  /** Gives a pipe the capacity for a flood of output while fewer than `MAX_ENLARGED_PIPES` have it. `read` is the end for reading. */
  enlargePipe(read: number): void;
}

/** fcntl.h of Linux. */
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const F_GETPIPE_SZ = 1032;

/**
 * @param getLibc called with the first pipe
 * @param largeBytes capacity for a flood of output
 */
export function createPipes(getLibc: () => Libc, largeBytes: number): Pipes {
  /** Read ends of enlarged pipes. */
  const enlarged = new Set<number>();
  const mayEnlarge = (libc: Libc) => {
    if (enlarged.size < MAX_ENLARGED_PIPES) return true;
    // Others close the pipes, so the kernel is asked which are left.
    for (const fd of enlarged) if (libc.fcntl(fd, F_GETPIPE_SZ, "int", 0) !== largeBytes) enlarged.delete(fd);
    return enlarged.size < MAX_ENLARGED_PIPES;
  };
  return {
    openPipe() {
      const libc = getLibc();
      const ends = new Int32Array(2);
      if (libc.pipe2(ends, O_CLOEXEC) !== 0) throw tooManyFiles(libc);
      const [read, write] = Array.from(ends, (fd) => raiseAboveStreams(libc, fd));
      return { read: read!, write: write! };
    },
    enlargePipe(read) {
      const libc = getLibc();
      if (largeBytes === PIPE_BYTES || !mayEnlarge(libc)) return;
      // At the user's limit for all pipes together, a pipe keeps its capacity.
      if (libc.fcntl(read, F_SETPIPE_SZ, "int", largeBytes) < 0) return;
      // Linux 5.8 to 6.7 wakes a blocked writer before the pipe has its new capacity, and never again; the second call wakes it.
      libc.fcntl(read, F_SETPIPE_SZ, "int", largeBytes);
      enlarged.add(read);
    },
  };
}
