/** What happened in one run, in order, and what of it must not have happened. */
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

  /** A broken promise. */
  fail(problem: string): void {
    this.problems.push(problem);
    this.note(`PROBLEM ${problem}`);
  }

  check(holds: boolean, problem: () => string): void {
    if (!holds) this.fail(problem());
  }
}

/** Longest time anything may take, milliseconds: a run that takes longer hangs. */
export const LONGEST_MS = 60_000;

/** The answer of `work`, or a problem when it takes longer than anything may. */
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
