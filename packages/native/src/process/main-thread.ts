import { readlinkSync } from "node:fs";

/** Whether this is the main thread. In a worker no signals arrive, and descriptors that Node opened are closed at its end. */
export function isMainThread(): boolean {
  try {
    // The id of the main thread is that of the process.
    const [pid, , tid] = readlinkSync("/proc/thread-self").split("/");
    if (pid === tid) return true;
  } catch {
    // Not on Linux, or no /proc.
  }
  // Not imported: loading it takes longer than the rest of this function.
  return process.getBuiltinModule("node:worker_threads").isMainThread;
}
