import { CHECKED_GROWTH_BYTES, MAX_RETAINED_BYTES, MAX_RETAINED_BYTES_IN_ALL, MIN_RETAINED_BYTES } from "../limits.js";

/** What keeps output of processes in memory: a session. */
export interface Retaining {
  list(): { readonly heldBytes: number; shrink(bytes: number): void }[];
  /** Forgets the process with output that ended first of those that were told of to the end; returns its bytes, 0 for none. */
  forgetOldest(): number;
}

export interface RetentionLimits {
  /** Bytes of one session, and of all. */
  one: number;
  all: number;
  /** Bytes of output after which it is looked at how much there is. */
  growth: number;
}

const DEFAULTS: RetentionLimits = {
  one: MAX_RETAINED_BYTES,
  all: MAX_RETAINED_BYTES_IN_ALL,
  growth: CHECKED_GROWTH_BYTES,
};

/**
 * Bounds the output that all sessions keep to be read again. Where it is too much, ended processes whose clients were told
 * everything are forgotten first, then each process keeps less; what no client was handed is never touched.
 */
export class Retention {
  readonly #limits: RetentionLimits;
  readonly #sessions = new Set<Retaining>();
  #growth = 0;

  constructor(limits: Partial<RetentionLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
  }

  add(session: Retaining): void {
    this.#sessions.add(session);
  }

  delete(session: Retaining): void {
    this.#sessions.delete(session);
  }

  /** So many bytes were added to what a session keeps. */
  grew(session: Retaining, bytes: number): void {
    this.#growth += bytes;
    if (this.#growth < this.#limits.growth) return;
    this.#growth = 0;
    const { one, all } = this.#limits;
    relieve(session, one);
    const held = new Map(Array.from(this.#sessions, (each) => [each, sum(each)]));
    let excess = [...held.values()].reduce((total, bytes) => total + bytes, 0) - all;
    for (const [largest, bytes] of [...held].sort((a, b) => b[1] - a[1])) {
      if (excess <= 0) return;
      excess -= bytes - relieve(largest, Math.max(0, bytes - excess));
    }
  }
}

/** Returns how much is left, bytes. */
function relieve(session: Retaining, most: number): number {
  let held = sum(session);
  for (let freed = 1; held > most && freed > 0; held -= freed) freed = session.forgetOldest();
  if (held <= most) return held;
  const processes = session.list();
  const share = Math.max(MIN_RETAINED_BYTES, Math.floor(most / processes.length));
  for (const process of processes) process.shrink(share);
  return sum(session);
}

const sum = (session: Retaining): number => session.list().reduce((total, { heldBytes }) => total + heldBytes, 0);
