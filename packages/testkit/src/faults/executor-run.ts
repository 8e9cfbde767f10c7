import { driveCommand } from "./drive-command.js";
import type { ExecutorTarget } from "./executor-targets.js";
import type { RunResult } from "./run-result.js";
import { runSeed, type TargetContext } from "./run-seed.js";

/** A run of an orchestrator with an executor. Never rejects. */
export function runExecutor(
  seed: number,
  kind: string,
  open: (context: TargetContext) => Promise<ExecutorTarget>,
): Promise<RunResult> {
  return runSeed(seed, kind, {
    open,
    prepare: async ({ orchestrator, mayBeLost }) => {
      return (script) => driveCommand({ ...script, orchestrator, mayBeLost });
    },
    closeOurEnd: ({ orchestrator }) => orchestrator.close(),
  });
}
