import { bindLibc } from "../libc/bind.js";

/** Returns what gives free memory of the C library back to the system. Only glibc has it; elsewhere it does nothing. */
export function createTrimMemory(): () => void {
  if (process.platform !== "linux") return () => {};
  let trim: ((keepBytes: number) => void) | undefined;
  return () => {
    trim ??= bindTrim();
    trim(0);
  };
}

function bindTrim(): (keepBytes: number) => void {
  try {
    return bindLibc<{ malloc_trim(keepBytes: number): void }>({ malloc_trim: "int malloc_trim(size_t keep)" })
      .malloc_trim;
  } catch {
    return () => {};
  }
}
