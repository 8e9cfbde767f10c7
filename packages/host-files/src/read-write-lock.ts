/** A FIFO read–write lock: writers run alone, readers run concurrently, and neither overtakes the other. */
export interface ReadWriteLock {
  /** Runs `work` after all earlier exclusive work, concurrently with other shared work. */
  shared<T>(work: () => Promise<T>): Promise<T>;
  /** Runs `work` after all earlier work, alone. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /** A reader would get the lock without waiting: no exclusive work is running and nothing is queued. */
  isFreeForReaders(): boolean;
}

/** @param maxShared maximum number of readers that run concurrently */
export function createReadWriteLock(maxShared: number): ReadWriteLock {
  const waiting: { isExclusive: boolean; start: () => Promise<void> }[] = [];
  let shared = 0;
  let exclusive = false;

  const advance = () => {
    for (let next = waiting[0]; next !== undefined && !exclusive; next = waiting[0]) {
      if (next.isExclusive ? shared > 0 : shared >= maxShared) return;
      waiting.shift();
      if (next.isExclusive) exclusive = true;
      else shared += 1;
      const { isExclusive } = next;
      void next.start().finally(() => {
        if (isExclusive) exclusive = false;
        else shared -= 1;
        advance();
      });
    }
  };
  const enqueue = <T>(isExclusive: boolean, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      waiting.push({ isExclusive, start: () => work().then(resolve, reject) });
      advance();
    });

  return {
    shared: (work) => enqueue(false, work),
    exclusive: (work) => enqueue(true, work),
    isFreeForReaders: () => !exclusive && waiting.length === 0,
  };
}
