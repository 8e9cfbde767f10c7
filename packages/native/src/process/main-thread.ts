import { readlinkSync } from "node:fs";

/** Whether signals arrive here, and what is opened stays open until this process ends: not in a worker. */
export function isMainThread(): boolean {
  try {
    // The thread that leads a process has its number, and is never a worker.
    const [pid, , tid] = readlinkSync("/proc/thread-self").split("/");
    if (pid === tid) return true;
  } catch {
    // Not Linux, or without /proc.
  }
  // Not imported: loading it takes longer than all the rest of this.
  return process.getBuiltinModule("node:worker_threads").isMainThread;
}
