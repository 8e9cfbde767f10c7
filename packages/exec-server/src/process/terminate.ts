import { setTimeout } from "node:timers/promises";
import type { ProcessOutcome } from "@codex/executor-protocol";
import type { ProcessSignal, TerminationReceipt } from "./exec-backend.js";
import { DEFAULT_TERMINATE_GRACE_MS, KILL_DEADLINE_MS } from "./limits.js";
import { listGroup } from "./process-group.js";

export interface TerminateGroup {
  pgid: number;
  running: boolean;
  /** Milliseconds; 0 kills at once. */
  graceMs?: number;
  /** Signals that ask, in order, before SIGKILL. A shell on a terminal ignores SIGTERM but not SIGHUP. */
  polite: readonly ProcessSignal[];
  send(signal: ProcessSignal): boolean;
  /** The kernel knows no process of the group any more. */
  isGone(): boolean;
  exited: Promise<unknown>;
  getOutcome(): ProcessOutcome;
  /** Only zombies that nobody collects are left: nothing to signal. */
  onGone(): void;
}

/** The ladder: ask, wait the grace, SIGKILL, wait. Resolves when the group is gone or the last deadline has passed. */
export async function terminateGroup(group: TerminateGroup): Promise<TerminationReceipt> {
  const { running, graceMs = DEFAULT_TERMINATE_GRACE_MS } = group;
  const signals: ProcessSignal[] = [];
  const receipt = (gone: boolean, members: TerminationReceipt["members"]) => ({
    running,
    members,
    signals,
    gone,
    outcome: group.getOutcome(),
  });
  if (group.isGone()) return receipt(true, []);
  const members = await listGroup(group.pgid);
  const send = (signal: ProcessSignal) => {
    if (group.send(signal)) signals.push(signal);
  };
  if (graceMs > 0) {
    for (const signal of group.polite) send(signal);
    if (await waitUntilGone(group, graceMs)) return receipt(true, members);
  }
  send("SIGKILL");
  const gone = await waitUntilGone(group, KILL_DEADLINE_MS);
  return receipt(gone, members);
}

const FIRST_LOOK_MS = 2;
const LONGEST_LOOK_MS = 50;

/** The kernel tells when a child ends, but not when a group is empty: that has to be looked up, less and less often. */
async function waitUntilGone(group: TerminateGroup, deadlineMs: number): Promise<boolean> {
  const deadline = performance.now() + deadlineMs;
  if (group.getOutcome().kind === "running") await settledWithin(group.exited, deadlineMs);
  if (group.getOutcome().kind === "running") return false;
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(pause * 2, LONGEST_LOOK_MS)) {
    if (group.isGone()) return true;
    if ((await listGroup(group.pgid))?.length === 0) {
      group.onGone();
      return true;
    }
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await setTimeout(Math.min(pause, left));
  }
}

/** Resolves with the promise or after the time. Leaves no timer behind: it would keep a host alive that is done. */
async function settledWithin(promise: Promise<unknown>, ms: number): Promise<void> {
  const abort = new AbortController();
  const late = setTimeout(ms, undefined, { signal: abort.signal }).catch(() => {});
  await Promise.race([promise, late]);
  abort.abort();
}
