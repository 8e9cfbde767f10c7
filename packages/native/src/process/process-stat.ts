import { readFileSync } from "node:fs";

/** The status of a process from `/proc/PID/stat`; see proc_pid_stat(5). Linux. */
export interface ProcessStat {
  /** Command name: at most 15 bytes, as latin1. */
  name: string;
  /** One letter; `Z` and `X` for a process that has ended. */
  state: string;
  ppid: number;
  /** Process group. */
  pgrp: number;
  /** Device number of its controlling terminal; 0 for none. */
  tty: number;
  /** Foreground process group of that terminal; -1 for none. */
  foreground: number;
  /** Whether it has waited for a child that ended (which had page faults, as every program has). */
  hasReaped: boolean;
  /** Start time: clock ticks since the boot of the host, in decimal digits. */
  startTime: string;
}

/** Indexes of `cminflt` and `starttime` among the fields after the name. */
const CHILDREN_FAULTS = 8;
const START_TIME = 19;

/** Undefined for a process that does not exist or is hidden. Zombies still exist. */
export function readProcessStat(pid: number): ProcessStat | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // `pid (name) state ppid pgrp session tty tpgid …`; the name may contain blanks and parentheses.
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const fields = text.slice(close + 2).split(" ");
  const [state, ppid, pgrp, , tty, foreground] = fields;
  if (state === undefined || foreground === undefined) return undefined;
  return {
    name: text.slice(open + 1, close),
    state,
    ppid: Number(ppid),
    pgrp: Number(pgrp),
    tty: Number(tty),
    foreground: Number(foreground),
    hasReaped: Number(fields[CHILDREN_FAULTS]) > 0,
    startTime: fields[START_TIME] ?? "",
  };
}

/** Whether a process has ended: it does not exist, or is a zombie. */
export const hasEnded = (stat: ProcessStat | undefined): boolean =>
  stat === undefined || stat.state === "Z" || stat.state === "X";
