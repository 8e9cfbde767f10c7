import { bindLibc } from "../libc/bind.js";
import type { Library } from "../libc/koffi.js";

/** Returns a function that returns free memory of the C library to the system. It has an effect with glibc only. */
export function createTrimMemory(library?: Library): () => void {
  if (process.platform !== "linux") return () => {};
  let trim: ((keepBytes: number) => void) | undefined;
  return () => {
    trim ??= bindTrim(library);
    trim(0);
  };
}

function bindTrim(library: Library | undefined): (keepBytes: number) => void {
  try {
    const prototypes = { malloc_trim: "int malloc_trim(size_t keep)" };
    return bindLibc<{ malloc_trim(keepBytes: number): void }>(prototypes, library).malloc_trim;
  } catch {
    return () => {};
  }
}
