import type { Labels } from "./messages.js";
import { type Entry, isConnected, loadOf } from "./registrations.js";

/** Criteria by which an executor of an environment is chosen for a harness. */
export interface Choice {
  /** The member that it was sent to before. */
  former: string | undefined;
  labels: Labels;
  /** Monotonic time, milliseconds. */
  now: number;
  /** How long a harness waits for its former executor, milliseconds. */
  awayMs: number;
  maxHarnesses: number;
  /** Number of harnesses that were recently sent to it and may not be part of its load yet. */
  countSent: (entry: Entry) => number;
}

/**
 * The executor for a harness: its former one, even while that is briefly disconnected, else the one with the fewest
 * harnesses. `"wait"` if one may connect soon; `"full"` if all have the maximum number of harnesses; undefined if there is none.
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
