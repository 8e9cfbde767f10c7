import { readFileSync, readlinkSync } from "node:fs";

/** Parent, user and namespace of a process. */
export interface Place {
  /** Pid of the process: another number than the one that was asked for if that is a thread. */
  tgid: number;
  ppid: number;
  /** It waits for its parent to collect it. */
  ended: boolean;
  /** Real user id. */
  uid: number;
  /** Depth of its pid namespace below that of /proc, which counts as 1. */
  depth: number;
}

/** Linux. Undefined for a process that is gone. */
export function readPlace(pid: number | "self"): Place | undefined {
  let status: string;
  try {
    status = readFileSync(`/proc/${pid}/status`, "utf8");
  } catch {
    return undefined;
  }
  const find = (pattern: RegExp) => pattern.exec(status)?.[1]?.split(/\s+/) ?? [];
  return {
    tgid: Number(find(TGID)[0]),
    ended: STATE_ENDED.test(status),
    ppid: Number(find(PPID)[0]),
    uid: Number(find(UID)[0]),
    // Before Linux 4.1 there is no `NSpid`.
    depth: find(NS_PID).length || 1,
  };
}

const STATE_ENDED = /^State:\s*[ZX]/m;
const TGID = /^Tgid:\s*(.*)$/m;
const PPID = /^PPid:\s*(.*)$/m;
const UID = /^Uid:\s*(.*)$/m;
const NS_PID = /^NSpid:\s*(.*)$/m;

/** Whether /proc shows the pid namespace of this process, so that its pids can be signalled. */
export function isOwnProc(): boolean {
  try {
    return readlinkSync("/proc/self") === String(process.pid);
  } catch {
    return false;
  }
}
