import { readFileSync, readlinkSync } from "node:fs";

/** What the kernel tells of where a process lives. */
export interface Place {
  ppid: number;
  /** Real user id. */
  uid: number;
  /** Namespaces of processes between that of /proc and its own: 1 in the former. */
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
  // Before Linux 4.1 nothing is told of namespaces.
  return { ppid: Number(ppid), uid: Number(uid), depth: find("NSpid").length || 1 };
}

/** Whether the numbers in /proc are those that this process signals: it may be that of another namespace. */
export function isOwnProc(): boolean {
  try {
    return readlinkSync("/proc/self") === String(process.pid);
  } catch {
    return false;
  }
}
