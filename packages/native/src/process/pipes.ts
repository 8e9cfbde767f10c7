import { raiseAboveStreams, tooManyFiles } from "../libc/descriptors.js";
import type { Libc } from "../libc/libc.js";
import { PIPE_BYTES } from "../output/read-memory.js";

/** Linux. */
export interface Pipes {
  /** A pipe whose ends children do not inherit. @throws an error with the code EMFILE */
  openPipe(): { read: number; write: number };
  /** The same for output of a program, with the capacity for output. */
  openOutputPipe(): { read: number; write: number };
}

/** fcntl.h of Linux. */
const O_CLOEXEC = 0o2000000;
const F_SETPIPE_SZ = 1031;

/**
 * @param getLibc called with the first pipe
 * @param outputBytes capacity of a pipe for output
 */
export function createPipes(getLibc: () => Libc, outputBytes: number): Pipes {
  const open = (capacity: number) => {
    const libc = getLibc();
    const ends = new Int32Array(2);
    if (libc.pipe2(ends, O_CLOEXEC) !== 0) throw tooManyFiles(libc);
    const [read, write] = Array.from(ends, (fd) => raiseAboveStreams(libc, fd));
    // Before any write. At the user's limit for all pipes together, a pipe keeps the default capacity.
    if (capacity !== PIPE_BYTES) libc.fcntl(read!, F_SETPIPE_SZ, "int", capacity);
    return { read: read!, write: write! };
  };
  return { openPipe: () => open(PIPE_BYTES), openOutputPipe: () => open(outputBytes) };
}
