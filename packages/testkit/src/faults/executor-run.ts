import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom, type Random } from "../random.js";
import { checkProcess } from "./check-process.js";
import { driveCommand } from "./drive-command.js";
import { LONGEST_MS } from "./drive-process.js";
import { findLeftOver, readEffects } from "./effects.js";
import type { TargetContext } from "./exec-server-targets.js";
import type { ExecutorTarget } from "./executor-targets.js";
import { History, inTime } from "./history.js";
import type { RunResult } from "./run-result.js";

/** One run: an orchestrator, a few programs at once, faults, and the check of everything that happened. Never rejects. */
export async function runExecutor(
  seed: number,
  kind: string,
  open: (context: TargetContext) => Promise<ExecutorTarget>,
): Promise<RunResult> {
  const history = new History();
  const random = createRandom(seed, kind);
  const directory = mkdtempSync(join(tmpdir(), "faults-"));
  let plan: readonly string[] = [];
  let processes = 0;
  try {
    const target = await open({ random: random.fork("target"), history, directory }).catch((error: unknown) => {
      history.note(`no connection: ${String(error)}`);
      return undefined;
    });
    if (target !== undefined) {
      plan = target.plan;
      processes = await runScripts(target, { random, history, directory });
    }
  } catch (error) {
    history.fail(`the run threw ${error instanceof Error ? error.stack : String(error)}`);
  }
  rmSync(directory, { recursive: true, force: true });
  return { seed, kind, plan, processes, events: history.events, problems: history.problems };
}

async function runScripts(
  { orchestrator, mayBeLost, disturb, heal, close, leftOverMs }: ExecutorTarget,
  { random, history, directory }: { random: Random; history: History; directory: string },
): Promise<number> {
  const drives = Array.from({ length: random.between(1, 4) }, (_, index) =>
    driveCommand({
      name: `p${index + 1}`,
      directory,
      random: random.fork(`process ${index + 1}`),
      history,
      orchestrator,
      mayBeLost,
    }),
  );
  const [driven] = await Promise.all([Promise.all(drives), disturb?.()]);
  history.note("close");
  heal();
  await inTime(history, "closing the orchestrator", LONGEST_MS, orchestrator.close());
  await inTime(history, "closing the target", LONGEST_MS, close());
  for (const { file, finish } of driven) {
    const record = finish();
    // First, so that nothing is written down after it was read.
    const left = await findLeftOver(readEffects(file).pids, leftOverMs);
    history.check(left.length === 0, () => `${record.name} was left running: group ${left.join()}`);
    checkProcess(record, readEffects(file), history);
  }
  return driven.length;
}
