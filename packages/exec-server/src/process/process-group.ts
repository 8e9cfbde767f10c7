import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { errnoOf } from "./errors.js";
import type { ProcessSignal } from "./exec-backend.js";

export interface GroupMember {
  pid: number;
  name: string;
}

/** Sends a signal to every process of a group. False when there is none. */
export function signalGroup(pgid: number, signal: ProcessSignal): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch (error) {
    // EPERM: members exist but belong to somebody else (a set-uid program); none of ours was left out.
    if (errnoOf(error) === "EPERM") return true;
    return false;
  }
}

/** Whether the kernel still knows a process of this group; zombies count. */
export function groupExists(pgid: number): boolean {
  try {
    process.kill(-pgid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === "EPERM";
  }
}

/**
 * The living processes of a group; zombies that nobody has collected yet are left out.
 * Undefined where the host cannot list processes.
 */
export async function listGroup(pgid: number): Promise<GroupMember[] | undefined> {
  if (!groupExists(pgid)) return [];
  return process.platform === "linux" ? listByProc(pgid) : listByPs(pgid);
}

async function listByProc(pgid: number): Promise<GroupMember[] | undefined> {
  const names = await readdir("/proc").catch(() => undefined);
  if (names === undefined) return undefined;
  const members: GroupMember[] = [];
  for (const pid of names) {
    if (!/^\d+$/.test(pid)) continue;
    const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
    // `pid (name) state ppid pgrp …`; the name may hold blanks and parentheses.
    const open = stat.indexOf("(");
    const close = stat.lastIndexOf(")");
    if (open < 0 || close < open) continue;
    const [state, , group] = stat.slice(close + 2).split(" ");
    if (Number(group) === pgid && state !== "Z" && state !== "X") {
      members.push({ pid: Number(pid), name: stat.slice(open + 1, close) });
    }
  }
  return members;
}

function listByPs(pgid: number): Promise<GroupMember[] | undefined> {
  return new Promise((resolve) => {
    execFile("ps", ["-A", "-o", "pid=,pgid=,stat=,comm="], (error, stdout) => {
      if (error) return resolve(undefined);
      const members: GroupMember[] = [];
      for (const line of stdout.split("\n")) {
        const [pid, group, state, ...name] = line.trim().split(/\s+/);
        if (Number(group) === pgid && !state?.startsWith("Z")) members.push({ pid: Number(pid), name: name.join(" ") });
      }
      resolve(members);
    });
  });
}
