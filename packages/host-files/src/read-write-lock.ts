/** Runs work in turn: what changes something runs alone, what only looks runs beside its like. Neither overtakes. */
export interface Order {
  /** Runs after all earlier exclusive work, beside other shared work. */
  shared<T>(work: () => Promise<T>): Promise<T>;
  /** Runs after all earlier work, alone. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Nothing is to be waited for by work that only looks: no exclusive work runs, and nothing waits. */
  isClear(): boolean;
}

/** @param maxShared shared work that runs at once */
export function createOrder(maxShared: number): Order {
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
    isClear: () => !exclusive && waiting.length === 0,
  };
}
