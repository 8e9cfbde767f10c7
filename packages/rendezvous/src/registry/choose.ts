import type { Labels } from "./messages.js";
import { type Entry, isConnected, loadOf } from "./registrations.js";

/** What decides to which executor of an environment a harness is sent. */
export interface Choice {
  /** The member that it was sent to before. */
  former: string | undefined;
  labels: Labels;
  /** Milliseconds on the clock. */
  now: number;
  /** For so long a harness waits for its former executor, milliseconds. */
  awayMs: number;
  maxHarnesses: number;
  /** Harnesses that were sent to it a moment ago and may not count as its load yet. */
  countSent: (entry: Entry) => number;
}

/**
 * The executor for a harness: the one where it was before, also while that is gone for a moment, else the one with the fewest
 * harnesses. `"wait"` where one may come; `"full"` where all have their most harnesses; undefined where there is none.
 */
export function chooseExecutor(entries: readonly Entry[], choice: Choice): Entry | "wait" | "full" | undefined {
  const { former, labels, now, awayMs, maxHarnesses, countSent } = choice;
  const fitting = entries.filter(({ registration }) => hasLabels(registration.labels, labels));
  const before = fitting.find(({ registration }) => registration.member === former);
  if (before !== undefined && isConnected(before)) return before;
  if (before?.lostAt !== undefined && now - before.lostAt < awayMs) return "wait";
  const connected = fitting.filter(isConnected);
  if (connected.length === 0) return fitting.length === 0 ? undefined : "wait";
  const withRoom = connected.filter((entry) => loadOf(entry) < maxHarnesses);
  let best: Entry | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const entry of withRoom) {
    const count = loadOf(entry) + countSent(entry);
    if (count >= fewest) continue;
    fewest = count;
    best = entry;
  }
  return best ?? "full";
}

const hasLabels = (labels: Labels, wanted: Labels): boolean =>
  Object.entries(wanted).every(([name, value]) => Object.hasOwn(labels, name) && labels[name] === value);
