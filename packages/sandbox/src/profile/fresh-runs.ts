interface Running<Value> {
  current: Promise<Value>;
  /** Begins when the current run has ended; shared by all calls since that began. */
  next: Promise<Value> | undefined;
}

/**
 * Runs `work` once at a time for each key, however many callers there are: calls during a run share the next one, as the current
 * one may have missed later changes. Settles as `work` does.
 */
export function createFreshRuns<Value>(): (key: string, work: () => Promise<Value>) => Promise<Value> {
  const runs = new Map<string, Running<Value>>();
  return (key, work) => {
    const begin = (): Promise<Value> => {
      const current = work();
      const mine: Running<Value> = { current, next: undefined };
      runs.set(key, mine);
      const end = () => {
        if (runs.get(key) === mine && mine.next === undefined) runs.delete(key);
      };
      current.then(end, end);
      return current;
    };
    const running = runs.get(key);
    if (running === undefined) return begin();
    running.next ??= running.current.then(begin, begin);
    return running.next;
  };
}
