/** A value that only grows. A hot path adds to `value` and does nothing else. */
export interface Counter {
  value: number;
}

/** A value that rises and falls. */
export interface Gauge {
  value: number;
}

/** How many values were at most each bound. */
export class Histogram {
  /** Upper bounds, ascending. */
  readonly bounds: readonly number[];
  /** Values up to each bound and above the one before it; the last entry is for those above all bounds. */
  readonly counts: number[];
  sum = 0;
  count = 0;
  /** Called with each value, to forward it to another metrics system. */
  listener: ((value: number) => void) | undefined;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.bounds.length && value > this.bounds[index]!) index += 1;
    this.counts[index]! += 1;
    this.sum += value;
    this.count += 1;
    this.listener?.(value);
  }
}

/** Seconds. The long ones are for calls, which wait up to their yield window. */
export const SECONDS_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];
