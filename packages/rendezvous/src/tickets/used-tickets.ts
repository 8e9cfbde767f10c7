/** Remembers which tickets were used, until they have expired. */
export interface UsedTickets {
  /** Marks a ticket as used. False if it was used before; `"full"` at the limit. */
  use(name: string, expiresAt: number): boolean | "full";
  has(name: string): boolean;
}

/** @param now milliseconds since 1970 @param max maximum number of tickets */
export function createUsedTickets(now: () => number, max: number): UsedTickets {
  // All tickets are valid equally long, so the order of use is nearly that of expiry.
  const used = new Map<string, number>();
  const forget = () => {
    for (const [name, expiresAt] of used) {
      if (expiresAt > now()) return;
      used.delete(name);
    }
  };
  return {
    use(name, expiresAt) {
      forget();
      if (used.has(name)) return false;
      if (used.size >= max) return "full";
      used.set(name, expiresAt);
      return true;
    },
    has: (name) => used.has(name),
  };
}
