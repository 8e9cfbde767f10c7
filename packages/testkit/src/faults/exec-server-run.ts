import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RpcError } from "@codex/channel";
import { createRemoteBackend } from "@codex/exec-server";
import { createRandom, type Random } from "../random.js";
import { checkProcess } from "./check-process.js";
import { driveProcess, LONGEST_MS } from "./drive-process.js";
import { findLeftOver, readEffects } from "./effects.js";
import type { Target, TargetContext } from "./exec-server-targets.js";
import { History, inTime } from "./history.js";
import type { RunResult } from "./run-result.js";

/** One run: a client, a few programs at once, faults, and the check of everything that happened. Never rejects. */
export async function runExecServer(
  seed: number,
  kind: string,
  open: (context: TargetContext) => Promise<Target>,
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
  target: Target,
  { random, history, directory }: { random: Random; history: History; directory: string },
): Promise<number> {
  const { client, mayBeLost } = target;
  const backend = createRemoteBackend(client);
  const codesOnly = await client.list().then(
    () => false,
    (error: unknown) => error instanceof RpcError,
  );
  const drives = Array.from({ length: random.between(1, 4) }, (_, index) =>
    driveProcess({
      name: `p${index + 1}`,
      directory,
      random: random.fork(`process ${index + 1}`),
      history,
      client,
      backend,
      mayBeLost,
      codesOnly,
    }),
  );
  const [driven] = await Promise.all([Promise.all(drives), target.disturb()]);
  history.note("close");
  target.heal();
  await inTime(history, "closing the client", LONGEST_MS, client.close());
  await inTime(history, "closing the target", LONGEST_MS, target.close());
  for (const { file, finish } of driven) {
    const record = await finish();
    // First, so that nothing is written down after it was read.
    const left = await findLeftOver(readEffects(file).pids, target.leftOverMs);
    history.check(left.length === 0, () => `${record.name} was left running: group ${left.join()}`);
    checkProcess(record, readEffects(file), history);
  }
  return driven.length;
}
