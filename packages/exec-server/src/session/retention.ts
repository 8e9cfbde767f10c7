import { MAX_RETAINED_BYTES, MAX_TOTAL_RETAINED_BYTES, MIN_RETAINED_BYTES, RETENTION_CHECK_BYTES } from "../limits.js";

/** The part of a session that the retention bounds. */
export interface RetainingSession {
  list(): { readonly heldBytes: number; shrink(bytes: number): void }[];
  /**
   * Evicts closed processes with output whose events are all delivered, the first ones first, until this many bytes are freed. Returns how
   * many were.
   */
  evict(bytes: number): number;
}

/** Limits of retained output, bytes. */
export interface RetentionLimits {
  perSession: number;
  total: number;
  /** New output after which the limits are checked. */
  checkInterval: number;
}

const DEFAULTS: RetentionLimits = {
  perSession: MAX_RETAINED_BYTES,
  total: MAX_TOTAL_RETAINED_BYTES,
  checkInterval: RETENTION_CHECK_BYTES,
};

/**
 * Bounds the output that all sessions retain. Over a limit, closed processes whose events are all delivered are evicted
 * first, then the retention of each process shrinks; undelivered output is never dropped.
 */
export class Retention {
  readonly #limits: RetentionLimits;
  readonly #sessions = new Set<RetainingSession>();
  #growth = 0;

  constructor(limits: Partial<RetentionLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
  }

  add(session: RetainingSession): void {
    this.#sessions.add(session);
  }

  delete(session: RetainingSession): void {
    this.#sessions.delete(session);
  }

  /** Counts output that was added to a session, and enforces the limits from time to time. */
  recordGrowth(session: RetainingSession, bytes: number): void {
    this.#growth += bytes;
    if (this.#growth < this.#limits.checkInterval) return;
    this.#growth = 0;
    const { perSession, total } = this.#limits;
    shrinkTo(session, perSession);
    const held = new Map(Array.from(this.#sessions, (each) => [each, sum(each)]));
    let excess = [...held.values()].reduce((sum, bytes) => sum + bytes, 0) - total;
    for (const [largest, bytes] of [...held].sort((a, b) => b[1] - a[1])) {
      if (excess <= 0) return;
      excess -= bytes - shrinkTo(largest, Math.max(0, bytes - excess));
    }
  }
}

/** Evicts and shrinks until a session retains at most `most` bytes; returns what it retains. */
function shrinkTo(session: RetainingSession, most: number): number {
  const before = sum(session);
  const held = before > most ? before - session.evict(before - most) : before;
  if (held <= most) return held;
  const processes = session.list();
  const share = Math.max(MIN_RETAINED_BYTES, Math.floor(most / processes.length));
  for (const process of processes) process.shrink(share);
  return sum(session);
}

const sum = (session: RetainingSession): number =>
  session.list().reduce((total, { heldBytes }) => total + heldBytes, 0);
