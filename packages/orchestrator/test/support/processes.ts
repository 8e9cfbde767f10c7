import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** A zombie counts as gone: it runs nothing any more, and who should reap it is no concern of ours. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    if (process.platform !== "linux") return true;
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

/** Processes that are not our children end without an event: they are looked at until they are gone. */
export async function waitUntilGone(pid: number): Promise<void> {
  while (isAlive(pid)) await delay(5);
}
