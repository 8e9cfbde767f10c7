/** Remembers for a while which executor of a pool each harness was sent to. */
export interface Stickiness {
  recall(harness: string): string | undefined;
  remember(harness: string, member: string): void;
}

/** @param options `max`: number of harnesses, the least recently used is dropped first; `ms`: time after the last `remember` */
export function createStickiness({ max, ms, now }: { max: number; ms: number; now: () => number }): Stickiness {
  // In the order of the last use.
  const known = new Map<string, { member: string; until: number }>();
  return {
    recall(harness) {
      const entry = known.get(harness);
      if (entry === undefined || entry.until > now()) return entry?.member;
      known.delete(harness);
      return undefined;
    },
    remember(harness, member) {
      known.delete(harness);
      known.set(harness, { member, until: now() + ms });
      for (const [oldest, { until }] of known) {
        if (known.size <= max && until > now()) return;
        known.delete(oldest);
      }
    },
  };
}
