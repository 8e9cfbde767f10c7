/** The events of one run, in order, and the violations of guarantees. */
export class History {
  readonly events: string[] = [];
  readonly problems: string[] = [];
  readonly #startedAt = performance.now();
  readonly #onNote: (event: string) => void;

  constructor(onNote: (event: string) => void = () => {}) {
    this.#onNote = onNote;
  }

  note(event: string): void {
    this.#onNote(event);
    this.events.push(`${(performance.now() - this.#startedAt).toFixed(1).padStart(8)} ms  ${event}`);
  }

  /** Records a violation of a guarantee. */
  fail(problem: string): void {
    this.problems.push(problem);
    this.note(`PROBLEM ${problem}`);
  }

  check(holds: boolean, problem: () => string): void {
    if (!holds) this.fail(problem());
  }
}

/** Longest time of any step, milliseconds; a longer one counts as hanging. */
export const LONGEST_MS = 60_000;

/** The result of `work`; records a problem and returns undefined when it takes more than `ms` milliseconds. */
export async function inTime<T>(history: History, what: string, ms: number, work: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => {
      history.fail(`${what} took more than ${ms} ms`);
      resolve(undefined);
    }, ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
