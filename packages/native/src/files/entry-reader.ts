import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { bindLibc } from "../libc/bind.js";
import type { Library } from "../libc/koffi.js";

/** Reads directories in the kernel's own form, thousands of entries at a time and none of them an object. */
export interface EntryReader {
  /** False where directories cannot be read so, and until what it takes is loaded, which the first question starts. */
  isReady(): boolean;
  /**
   * The next entries of an open directory, on the thread pool: records of getdents64(2), and how many bytes they are;
   * 0 at the end, less for an error. Never rejects.
   */
  read(directory: number, into: Buffer): Promise<number>;
}

type Read = EntryReader["read"];

/** Linux; elsewhere it is never ready. */
export function createEntryReader(library?: Library): EntryReader {
  let read: Read | undefined;
  let isAsked = process.platform !== "linux";
  const load = async () => {
    await setImmediate();
    read = bindRead(library);
  };
  return {
    isReady() {
      if (!isAsked) void load().catch(() => {});
      isAsked = true;
      return read !== undefined;
    },
    read: async (directory, into) => read?.(directory, into) ?? -1,
  };
}

/** Called on the thread pool; `then` on the loop. */
type Getdents = (directory: number, into: Buffer, bytes: number, then: (error: unknown, bytes: number) => void) => void;

/** @throws where the C library has no such function */
function bindRead(library: Library | undefined): Read {
  const prototypes = { getdents64: "long getdents64(int fd, _Out_ void *into, unsigned long bytes)" };
  const { getdents64 } = bindLibc<{ getdents64: { async: Getdents } }>(prototypes, library);
  const getdents: (directory: number, into: Buffer, bytes: number) => Promise<number> = promisify(getdents64.async);
  return (directory, into) => getdents(directory, into, into.length);
}
