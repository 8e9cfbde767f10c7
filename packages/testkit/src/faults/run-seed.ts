import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRandom, type Random } from "../random.js";
import { checkProcess, type ProcessRecord } from "./check-process.js";
import { findLeftOver, readEffects } from "./effects.js";
import { History, inTime, LONGEST_MS } from "./history.js";
import type { RunResult } from "./run-result.js";

export interface TargetContext {
  random: Random;
  history: History;
  /** The directory of the run, which every program has in its environment. */
  directory: string;
}

/** A faulty connection with its two ends. */
export interface RunTarget {
  /** The planned faults, one per line. */
  plan: readonly string[];
  /** Whether the faults allow the loss of a process. */
  mayBeLost(): boolean;
  /** Called once, while programs run. */
  disturb?(): Promise<void>;
  /** Removes the faults of later connections, so that closing can be reported. */
  heal(): void;
  /** Called after our end was closed. */
  close(): Promise<void>;
  /** Milliseconds after that until remaining processes must have ended. */
  leftOverMs: number;
}

/** The context of one program to start and drive. */
type ScriptContext = TargetContext & { name: string };

/** A program that has ended or was left running. `file` has its recorded effects. */
interface Driven {
  file: string;
  finish(): ProcessRecord | Promise<ProcessRecord>;
}

export interface RunParts<T extends RunTarget> {
  open(context: TargetContext): Promise<T>;
  /** Returns the function that drives one program through the target; called once. */
  prepare(target: T): Promise<(script: ScriptContext) => Promise<Driven>>;
  closeOurEnd(target: T): Promise<void>;
}

/** Runs a target with a few concurrent programs and faults, and checks the guarantees. Never rejects. */
export async function runSeed<T extends RunTarget>(seed: number, kind: string, parts: RunParts<T>): Promise<RunResult> {
  const history = new History();
  const random = createRandom(seed, kind);
  const directory = mkdtempSync(join(tmpdir(), "faults-"));
  let plan: readonly string[] = [];
  let processes = 0;
  try {
    const opened = parts.open({ random: random.fork("target"), history, directory }).catch((error: unknown) => {
      history.note(`no connection: ${String(error)}`);
      return undefined;
    });
    const target = await inTime(history, "opening the target", LONGEST_MS, opened);
    if (target !== undefined) {
      plan = target.plan;
      processes = await runScripts(target, parts, { random, history, directory });
    }
  } catch (error) {
    history.fail(`the run threw ${error instanceof Error ? error.stack : String(error)}`);
  }
  rmSync(directory, { recursive: true, force: true });
  return { seed, kind, plan, processes, events: history.events, problems: history.problems };
}

async function runScripts<T extends RunTarget>(
  target: T,
  { prepare, closeOurEnd }: RunParts<T>,
  { random, history, directory }: TargetContext,
): Promise<number> {
  const within = <R>(what: string, work: Promise<R>) => inTime(history, what, LONGEST_MS, work);
  const drive = await within("a first answer", prepare(target));
  const scripts = drive === undefined ? 0 : random.between(1, 4);
  const drives = Array.from({ length: scripts }, (_, index) =>
    drive!({ name: `p${index + 1}`, directory, random: random.fork(`process ${index + 1}`), history }),
  );
  const disturbed = target.disturb?.() ?? Promise.resolve();
  const [driven] = await Promise.all([Promise.all(drives), within("what is done to the target", disturbed)]);
  history.note("close");
  target.heal();
  await within("closing our end", closeOurEnd(target));
  await within("closing the target", target.close());
  for (const { file, finish } of driven) {
    const record = await finish();
    // First, so that nothing is recorded after reading the records.
    const left = await findLeftOver(readEffects(file).pids, target.leftOverMs);
    history.check(left.length === 0, () => `${record.name} was left running: group ${left.join()}`);
    checkProcess(record, readEffects(file), history);
  }
  return driven.length;
}
