import { closeSync } from "node:fs";
import { bindLibc, type Libc } from "./libc.js";
import { MAX_READS_AHEAD } from "./limits.js";

/** Reads a descriptor on the thread pool, as much as there is, while the event loop does something else. */
export interface AheadReader {
  /**
   * One at a time. `done` gets the number of bytes in a later turn: fewer than fit when there was nothing more for now, or
   * ever.
   */
  read(into: Buffer, done: (bytes: number) => void): void;
  /** Not while it reads. */
  close(): void;
}

/** Undefined where there are enough of them, or no further descriptor is to be had. The descriptor stays the caller's. */
export type OpenAhead = (fd: number) => AheadReader | undefined;

/** `FILE *`. */
type File = object | bigint;

/** stdio.h. A stream without a buffer reads straight into the caller's, again and again until that is full. */
interface Stdio {
  fdopen(fd: number, mode: string): File | null;
  setvbuf(file: File, buffer: null, mode: number, bytes: number): number;
  fread: {
    async(
      into: Buffer,
      itemBytes: number,
      items: number,
      file: File,
      done: (error: unknown, items?: number) => void,
    ): void;
  };
  clearerr(file: File): void;
  fclose(file: File): number;
}

const PROTOTYPES: Readonly<Record<keyof Stdio, string>> = {
  fdopen: "void *fdopen(int fd, const char *mode)",
  setvbuf: "int setvbuf(void *file, void *buffer, int mode, size_t bytes)",
  fread: "size_t fread(_Out_ void *into, size_t item_bytes, size_t items, void *file)",
  clearerr: "void clearerr(void *file)",
  fclose: "int fclose(void *file)",
};

/** stdio.h and fcntl.h of Linux, the same in glibc and musl. */
const IONBF = 2;
const F_DUPFD_CLOEXEC = 1030;

/** For descriptors that do not block. Linux. */
export function createOpenAhead({ fcntl }: Pick<Libc, "fcntl">): OpenAhead {
  let stdio: Stdio | undefined;
  let open = 0;
  return (fd) => {
    if (open === MAX_READS_AHEAD) return undefined;
    stdio ??= bindLibc<Stdio>(PROTOTYPES);
    const { fread, clearerr, fclose } = stdio;
    const file = openFile(stdio, fcntl(fd, F_DUPFD_CLOEXEC, "int", 0));
    if (file === undefined) return undefined;
    open += 1;
    return {
      read: (into, done) =>
        fread.async(into, 1, into.length, file, (_error, bytes = 0) => {
          clearerr(file);
          done(bytes);
        }),
      close: () => {
        open -= 1;
        fclose(file);
      },
    };
  };
}

/** Owns the descriptor. */
function openFile({ fdopen, setvbuf }: Stdio, fd: number): File | undefined {
  if (fd === -1) return undefined;
  const file = fdopen(fd, "r");
  if (file === null) closeSync(fd);
  else setvbuf(file, null, IONBF, 0);
  return file ?? undefined;
}
