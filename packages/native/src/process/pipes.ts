import { raiseAboveStreams, tooManyFiles } from "../libc/descriptors.js";
import type { Libc } from "../libc/libc.js";
import { MAX_ENLARGED_PIPES } from "../limits.js";
import { PIPE_BYTES } from "../output/read-memory.js";

/** Linux. */
export interface Pipes {
  /** A pipe whose ends children do not inherit. @throws an error with the code EMFILE */
  openPipe(): { read: number; write: number };
  /** The same for output of a program, with the capacity for output while fewer than `MAX_ENLARGED_PIPES` have it. */
  openOutputPipe(): { read: number; write: number };
}

/** fcntl.h of Linux. */
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;
const F_GETPIPE_SZ = 1032;

/**
 * @param getLibc called with the first pipe
 * @param outputBytes capacity of a pipe for output
 */
export function createPipes(getLibc: () => Libc, outputBytes: number): Pipes {
  /** Read ends of enlarged pipes. */
  const enlarged = new Set<number>();
  const mayEnlarge = (libc: Libc) => {
    if (enlarged.size < MAX_ENLARGED_PIPES) return true;
    // Others close the pipes, so the kernel is asked which are left.
    for (const fd of enlarged) if (libc.fcntl(fd, F_GETPIPE_SZ, "int", 0) !== outputBytes) enlarged.delete(fd);
    return enlarged.size < MAX_ENLARGED_PIPES;
  };
  const open = () => {
    const libc = getLibc();
    const ends = new Int32Array(2);
    if (libc.pipe2(ends, O_CLOEXEC) !== 0) throw tooManyFiles(libc);
    const [read, write] = Array.from(ends, (fd) => raiseAboveStreams(libc, fd));
    return { read: read!, write: write! };
  };
  return {
    openPipe: open,
    openOutputPipe() {
      const pipe = open();
      const libc = getLibc();
      // Before any write. At the user's limit for all pipes together, a pipe keeps the default capacity.
      if (outputBytes !== PIPE_BYTES && mayEnlarge(libc)) {
        if (libc.fcntl(pipe.read, F_SETPIPE_SZ, "int", outputBytes) > 0) enlarged.add(pipe.read);
      }
      return pipe;
    },
  };
}
