import type { SentSignal } from "@codex/exec-backend";
import { errnoOf } from "@codex/exec-backend";

/** Sends a signal to every process of a group. False when there is none. */
export function signalGroup(pgid: number, signal: SentSignal): boolean {
  try {
    process.kill(-pgid, signal);
    return true;
  } catch (error) {
    // EPERM: members exist but belong to somebody else (a set-uid program); none of ours was left out.
    if (errnoOf(error) === "EPERM") return true;
    return false;
  }
}

/** False when it is gone or belongs to somebody else. */
export function signalProcess(pid: number, signal: SentSignal): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
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
