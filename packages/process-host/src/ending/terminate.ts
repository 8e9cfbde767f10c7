import { setTimeout } from "node:timers/promises";
import type { ProcessSignal, SentSignal, TerminationReceipt } from "@codex/exec-backend";
import { DEFAULT_TERMINATE_GRACE_MS, KILL_DEADLINE_MS } from "@codex/exec-backend";
import type { ProcessOutcome } from "@codex/executor-protocol";
import { MAX_KILL_ROUNDS, MAX_LISTED_PROCESSES } from "../limits.js";
import { settledWithin } from "../settled-within.js";
import type { Family, FamilyWatch, Relative } from "./family.js";

export interface TerminateFamily {
  running: boolean;
  /** Milliseconds; 0 kills at once. */
  graceMs?: number;
  /** Signals that ask, in order, before SIGKILL. A shell on a terminal ignores SIGTERM but not SIGHUP. */
  polite: readonly ProcessSignal[];
  family: FamilyWatch;
  /** Signals the group. False when there is none. */
  send(signal: SentSignal): boolean;
  /** The kernel knows no process of the group any more. */
  isGone(): boolean;
  exited: Promise<unknown>;
  getOutcome(): ProcessOutcome;
  /** Only zombies that nobody collects are left: nothing to signal. */
  onGone(): void;
}

/**
 * The ladder: ask, wait the grace, SIGKILL, wait; for the group and for what left it. Resolves when nothing is left or
 * the last deadline has passed.
 */
export async function terminateFamily(target: TerminateFamily): Promise<TerminationReceipt> {
  const { running, graceMs = DEFAULT_TERMINATE_GRACE_MS } = target;
  const seen = createSightings();
  const signals: SentSignal[] = [];
  const list = async () => seen.note(await target.family.list());
  const send = (signal: SentSignal, family: Family | undefined) => {
    const reachedGroup = target.send(signal);
    const reached = (family?.strays ?? []).filter(
      ({ pid }) => isForStrays(signal) && target.family.signal(pid, signal),
    );
    if ((reachedGroup || reached.length > 0) && !signals.includes(signal)) signals.push(signal);
  };
  const receipt = (gone: boolean) => ({ running, ...seen.get(), signals, gone, outcome: target.getOutcome() });

  if (graceMs === 0) target.family.killNewest?.();
  const family = await list();
  if (target.isGone() && hasNoStrays(family)) return receipt(true);
  if (graceMs > 0) {
    for (const signal of target.polite) send(signal, family);
    // A stopped process handles no signal until it continues.
    if (listAll(family).some(({ stopped }) => stopped)) send("SIGCONT", family);
    if (await waitUntilGone(target, list, graceMs)) return receipt(true);
  }
  const kill = async () => {
    target.family.killNewest?.();
    const left = await list();
    send("SIGKILL", left);
    return left;
  };
  await killUntilNothingNew(kill);
  return receipt(await waitUntilGone(target, kill, KILL_DEADLINE_MS));
}

/** A daemon takes a hang-up for a request to read its configuration again. */
const isForStrays = (signal: SentSignal): boolean => signal !== "SIGHUP";

/** Also where the host cannot list processes. */
const hasNoStrays = (family: Family | undefined): boolean =>
  family === undefined || (family.complete && family.strays.length === 0);

const listAll = (family: Family | undefined): Relative[] =>
  family === undefined ? [] : [...family.members, ...family.strays];

/** A process may start others between being listed and being killed: lists again at once while there are new ones. */
async function killUntilNothingNew(kill: () => Promise<Family | undefined>): Promise<void> {
  const killed = new Set<number>();
  for (let round = 0; round < MAX_KILL_ROUNDS; round += 1) {
    const left = await kill();
    const fresh = listAll(left).filter(({ pid }) => !killed.has(pid));
    if (fresh.length === 0 && left?.complete !== false) return;
    for (const { pid } of fresh) killed.add(pid);
  }
}

/** Every process that was listed over time, by the name that it had first. */
function createSightings() {
  const members = new Map<number, string>();
  const strays = new Map<number, string>();
  let known = false;
  const add = (to: Map<number, string>, relatives: readonly Relative[]) => {
    for (const { pid, name } of relatives) {
      if (members.has(pid) || strays.has(pid) || to.size >= MAX_LISTED_PROCESSES) continue;
      to.set(pid, name);
    }
  };
  const describe = (from: ReadonlyMap<number, string>) =>
    known ? [...from].map(([pid, name]) => ({ pid, name })) : undefined;
  return {
    note(family: Family | undefined): Family | undefined {
      known ||= family !== undefined;
      add(members, family?.members ?? []);
      add(strays, family?.strays ?? []);
      return family;
    },
    get: () => ({ members: describe(members), strays: describe(strays) }),
  };
}

/** Milliseconds between two polls, at first and at most. */
const FIRST_POLL_INTERVAL_MS = 2;
const MAX_POLL_INTERVAL_MS = 50;

/** The kernel reports the end of a child but not that of a family, which is polled for with growing intervals. */
async function waitUntilGone(
  target: TerminateFamily,
  list: () => Promise<Family | undefined>,
  deadlineMs: number,
): Promise<boolean> {
  const deadline = performance.now() + deadlineMs;
  if (target.getOutcome().kind === "running") await settledWithin(target.exited, deadlineMs);
  if (target.getOutcome().kind === "running") return false;
  for (let pause = FIRST_POLL_INTERVAL_MS; ; pause = Math.min(pause * 2, MAX_POLL_INTERVAL_MS)) {
    const family = await list();
    if (family?.complete && family.members.length === 0) target.onGone();
    if (target.isGone() && hasNoStrays(family)) return true;
    const left = deadline - performance.now();
    if (left <= 0) return false;
    await setTimeout(Math.min(pause, left));
  }
}
