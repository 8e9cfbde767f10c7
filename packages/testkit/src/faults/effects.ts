import { existsSync, readFileSync } from "node:fs";

/** What a program wrote down of what it did. */
export interface Effects {
  pids: number[];
  lines: string[];
  signals: number;
  /** Codes it was about to exit with. */
  exits: number[];
}

export function readEffects(file: string): Effects {
  const effects: Effects = { pids: [], lines: [], signals: 0, exits: [] };
  for (const entry of existsSync(file) ? readFileSync(file, "utf8").split("\n") : []) {
    const [, kind, rest = ""] = /^(pid|line|exit|INT)(?: (.*))?$/.exec(entry) ?? [];
    if (kind === "pid") effects.pids.push(Number(rest));
    else if (kind === "line") effects.lines.push(rest);
    else if (kind === "exit") effects.exits.push(Number(rest));
    else if (kind === "INT") effects.signals += 1;
  }
  return effects;
}

/** Whether a process of the group of that leader is there; every program here leads its own. */
export function isGroupAlive(pgid: number): boolean {
  try {
    process.kill(-pgid, 0);
    return true;
  } catch {
    return false;
  }
}

/** The groups that are still there after `ms`. */
export async function findLeftOver(pids: readonly number[], ms: number): Promise<number[]> {
  const deadline = performance.now() + ms;
  for (;;) {
    const left = pids.filter(isGroupAlive);
    if (left.length === 0 || performance.now() > deadline) return left;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
