import { existsSync, readdirSync, readFileSync } from "node:fs";

/** The effects that a program has recorded. */
export interface Effects {
  pids: number[];
  lines: string[];
  signals: number;
  /** Sizes of its terminal, rows and columns. */
  sizes: string[];
  /** Exit codes, recorded right before the exit. */
  exits: number[];
}

export function readEffects(file: string): Effects {
  const effects: Effects = { pids: [], lines: [], signals: 0, sizes: [], exits: [] };
  for (const entry of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    const [, kind, rest = ""] = /^(pid|line|exit|size|INT)(?: (.*))?$/.exec(entry) ?? [];
    if (kind === "pid") effects.pids.push(Number(rest));
    else if (kind === "line") effects.lines.push(rest);
    else if (kind === "size") effects.sizes.push(rest);
    else if (kind === "exit") effects.exits.push(Number(rest));
    else if (kind === "INT") effects.signals += 1;
  }
  return effects;
}

/** Whether a process of the group exists that is not a zombie. */
function isGroupAlive(pgid: number): boolean {
  try {
    process.kill(-pgid, 0);
  } catch {
    return false;
  }
  return process.platform !== "linux" || listLiveGroups().has(pgid);
}

/**
 * Processes that have `text` in their environment and still exist after `ms` milliseconds, with their command lines; also those
 * that have not recorded anything. Linux; elsewhere none.
 */
export async function findMarked(text: string, ms: number): Promise<string[]> {
  const deadline = performance.now() + ms;
  for (;;) {
    const left = listMarked(text);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function listMarked(text: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && readProcess(name, "environ").includes(text))
    .map((pid) => `${pid} ${readProcess(pid, "cmdline").replaceAll("\0", " ").slice(0, 80)}`);
}

function listLiveGroups(): Set<number> {
  const groups = new Set<number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const [, state, group] = /\) (\S) \d+ (\d+)/.exec(readProcess(name, "stat")) ?? [];
    if (state !== undefined && state !== "Z" && state !== "X") groups.add(Number(group));
  }
  return groups;
}

function readProcess(pid: string, file: "stat" | "environ" | "cmdline"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return ""; // it has ended in the meantime, or belongs to another user
  }
}

/** The process groups that still exist after `ms` milliseconds. */
export async function findLeftOver(pids: readonly number[], ms: number): Promise<number[]> {
  const deadline = performance.now() + ms;
  for (;;) {
    const left = pids.filter(isGroupAlive);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
