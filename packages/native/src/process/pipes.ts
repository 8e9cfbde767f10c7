import { raiseAboveStreams, tooManyFiles } from "../libc/descriptors.js";
import type { Libc } from "../libc/libc.js";

/** Linux. */
export interface Pipes {
  /** A pipe whose ends children do not inherit. @throws an error with the code EMFILE */
  openPipe(): { read: number; write: number };
}

/** fcntl.h of Linux. */
const O_CLOEXEC = 0o2000000;

/** @param getLibc called with the first pipe */
export const createPipes = (getLibc: () => Libc): Pipes => ({
  openPipe() {
    const libc = getLibc();
    const ends = new Int32Array(2);
    if (libc.pipe2(ends, O_CLOEXEC) !== 0) throw tooManyFiles(libc);
    const [read, write] = Array.from(ends, (fd) => raiseAboveStreams(libc, fd));
    return { read: read!, write: write! };
  },
});
