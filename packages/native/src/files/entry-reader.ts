import { setImmediate } from "node:timers/promises";
import { promisify } from "node:util";
import { bindLibc } from "../libc/bind.js";
import type { Library } from "../libc/koffi.js";

/** Reads directories in the kernel's own format: thousands of entries per call, without an object for each. */
export interface EntryReader {
  /** False where directories cannot be read this way, and until native code is loaded, which the first call starts. */
  isReady(): boolean;
  /**
   * Reads the next entries of an open directory on the thread pool, as records of getdents64(2). Resolves with their size in
   * bytes; 0 at the end, negative for an error. Never rejects.
   */
  read(directory: number, into: Buffer): Promise<number>;
}

type Read = EntryReader["read"];

/** A reader for Linux; on other systems it is never ready. */
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

/** Runs on the thread pool; the callback is called on the event loop. */
type Getdents = (directory: number, into: Buffer, bytes: number, then: (error: unknown, bytes: number) => void) => void;

/** @throws where the C library has no such function */
function bindRead(library: Library | undefined): Read {
  const prototypes = { getdents64: "long getdents64(int fd, _Out_ void *into, unsigned long bytes)" };
  const { getdents64 } = bindLibc<{ getdents64: { async: Getdents } }>(prototypes, library);
  const getdents: (directory: number, into: Buffer, bytes: number) => Promise<number> = promisify(getdents64.async);
  return (directory, into) => getdents(directory, into, into.length);
}
