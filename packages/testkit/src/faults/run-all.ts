import { createRandom } from "../random.js";
import type { World } from "./exec-server-world.js";
import type { RunResult } from "./run-result.js";

export interface RunAllOptions {
  world: World;
  /** Default: those of the world. */
  kinds?: Readonly<Record<string, number>>;
  firstSeed: number;
  runs: number;
  /** Number of concurrent runs. */
  jobs: number;
  onResult(result: RunResult): void;
  stop?: AbortSignal;
}

export interface Totals {
  runs: number;
  processes: number;
  failed: number;
  byKind: Record<string, number>;
}

/** Runs one seed after the other, several of them concurrently. The kind of a run follows from its seed. */
export async function runAll(options: RunAllOptions): Promise<Totals> {
  const { world, kinds = options.world.kinds, firstSeed, runs, jobs, onResult, stop } = options;
  const totals: Totals = { runs: 0, processes: 0, failed: 0, byKind: {} };
  let next = 0;
  const work = async () => {
    while (next < runs && stop?.aborted !== true) {
      const seed = firstSeed + next;
      next += 1;
      const result = await world.run(pickKind(seed, kinds), seed);
      totals.runs += 1;
      totals.processes += result.processes;
      totals.failed += result.problems.length > 0 ? 1 : 0;
      totals.byKind[result.kind] = (totals.byKind[result.kind] ?? 0) + 1;
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: Math.min(jobs, runs) }, work));
  return totals;
}

function pickKind(seed: number, kinds: Readonly<Record<string, number>>): string {
  const all = Object.entries(kinds);
  const sum = all.reduce((total, [, weight]) => total + weight, 0);
  let at = createRandom(seed, "kind").between(1, sum);
  for (const [kind, weight] of all) {
    at -= weight;
    if (at <= 0) return kind;
  }
  throw new RangeError("there are no kinds of runs");
}
