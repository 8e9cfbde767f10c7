import type { Orchestrator } from "@codex/orchestrator";
import { createRandom, type Random } from "../random.js";
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
      await runEarlier(orchestrator, createRandom(seed, "earlier"));
      return (script) => driveCommand({ ...script, orchestrator, mayBeLost });
    },
    closeOurEnd: ({ orchestrator }) => orchestrator.close(),
  });
}

/** Runs programs before those of the run, whose output must not be mistaken for that of later ones. They may be lost. */
async function runEarlier(orchestrator: Orchestrator, random: Random): Promise<void> {
  for (let index = random.between(0, 3); index > 0; index -= 1) {
    const argv = ["seq", String(random.pick([10, 1_000, 50_000]))];
    await orchestrator.runCommand({ argv, env: { PATH: "/usr/bin:/bin" }, tty: false }, { onOutput() {} }).ended;
  }
}
