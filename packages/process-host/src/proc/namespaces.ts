import { readFileSync, readlinkSync } from "node:fs";

/** Parent, user and namespace of a process. */
export interface Place {
  ppid: number;
  /** Real user id. */
  uid: number;
  /** Depth of its pid namespace below that of /proc, which counts as 1. */
  depth: number;
}

/** Linux. Undefined for a process that is gone. */
export function readPlace(pid: number | "self"): Place | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    return undefined;
  }
  const find = (name: string) => new RegExp(`^${name}:\\s*(.*)$`, "m").exec(status)?.[1]?.split(/\s+/) ?? [];
  const [ppid, uid] = [find("PPid")[0], find("Uid")[0]];
  // Before Linux 4.1 there is no `NSpid`.
  return { ppid: Number(ppid), uid: Number(uid), depth: find("NSpid").length || 1 };
}

/** Whether /proc shows the pid namespace of this process, so that its pids can be signalled. */
export function isOwnProc(): boolean {
  try {
    return readlinkSync("/proc/self") === String(process.pid);
  } catch {
    return false;
  }
}
