import { getAncestors, type Plan, type Step } from "@codex/apply-patch";
import { messageOf } from "@codex/values";
import { type AgentFiles, isChangedError, isMissing } from "../agent-files.js";
import { expecting, isSameState, readState } from "./file-states.js";
import { type RolledBackFile, rollBack } from "./roll-back.js";
import type { StartedStep } from "./started-step.js";
import { writeMoved } from "./write-moved.js";

/** Result of a plan. On a failure its steps are rolled back; `files` has the state of each file that was started. */
export type AppliedPlan = { ok: true } | { ok: false; path: string; reason: string; files: readonly RolledBackFile[] };

/**
 * Applies a plan, one call per file. Each file must be unchanged since the plan was made. Between two calls every file is in
 * its old or its new state. `newId` names temporary files. Never rejects.
 */
export async function applyPlan(files: AgentFiles, { steps }: Plan, newId: () => string): Promise<AppliedPlan> {
  const started: StartedStep[] = [];
  for (const step of steps) {
    try {
      const { state, mode } = await readState(files, step.path);
      // A concurrent change would be lost.
      if (!isSameState(state, step.before))
        throw new Error("something else changed it in the meantime, possibly under another name");
      const current: StartedStep = { step, made: [], mode };
      started.push(current);
      if (step.kind === "remove") await files.remove(step.path, { recursive: false, force: false });
      else await write(files, step, current.made, newId);
    } catch (error) {
      if (isChangedError(error)) started.pop(); // nothing of it was done
      return { ok: false, path: step.path, reason: messageOf(error), files: await rollBack(files, started) };
    }
  }
  return { ok: true };
}

async function write(
  files: AgentFiles,
  step: Extract<Step, { kind: "write" }>,
  made: string[],
  newId: () => string,
): Promise<void> {
  const { movedFrom } = step;
  const run = () =>
    movedFrom === undefined
      ? files.writeFile(step.path, step.after, { atomic: true, ...expecting(step.before) })
      : writeMoved(files, { ...step, movedFrom }, newId);
  try {
    await run();
  } catch (error) {
    if (!isMissing(error)) throw error;
    const missing = await findMissingDirectories(files, step.path);
    const innermost = missing.at(-1);
    if (innermost === undefined) throw error;
    made.push(...missing);
    await files.createDirectory(innermost, { recursive: true });
    await run();
  }
}

/** Missing parent directories of a path, outermost first. */
async function findMissingDirectories(files: AgentFiles, path: string): Promise<string[]> {
  const missing: string[] = [];
  for (const directory of getAncestors(path)) {
    try {
      await files.getMetadata(directory);
      return missing;
    } catch (error) {
      if (!isMissing(error)) throw error;
      missing.unshift(directory);
    }
  }
  return missing;
}
