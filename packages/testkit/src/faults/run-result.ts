/** The result of one run. A problem is a violated guarantee; the same seed and kind repeat the run. */
export interface RunResult {
  seed: number;
  kind: string;
  plan: readonly string[];
  /** Number of programs whose start was attempted. */
  processes: number;
  events: readonly string[];
  problems: readonly string[];
}

export function renderFailure({ seed, kind, plan, events, problems }: RunResult): string {
  return [
    `seed ${seed} ${kind}: ${problems.length} problems`,
    ...problems.map((problem) => `  ${problem}`),
    "  plan:",
    ...plan.map((line) => `    ${line}`),
    "  history:",
    ...events.map((event) => `    ${event}`),
    `  again: pnpm faults --kind ${kind} --seed ${seed} --runs 1`,
  ].join("\n");
}
