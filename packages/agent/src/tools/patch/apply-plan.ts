import { getAncestors, type Plan, type Step } from "@codex/apply-patch";
import { type AgentFiles, isMissing, reasonOf } from "../../files/agent-files.js";
import type { BegunStep } from "./begun-step.js";
import { isSameState, readState } from "./file-states.js";
import { type Undone, undoSteps } from "./undo-steps.js";
import { writeMoved } from "./write-moved.js";

/** How a plan went. After a failure its steps are undone; `undone` has what is true of each file that was begun then. */
export type AppliedPlan = { ok: true } | { ok: false; path: string; reason: string; undone: readonly Undone[] };

/**
 * Carries out a plan, one call for each file. Before each step the file has to be as it was when the plan was made. Between
 * two calls every file is as before or as afterwards. `newId` names temporary files. Never rejects.
 */
export async function applyPlan(files: AgentFiles, { steps }: Plan, newId: () => string): Promise<AppliedPlan> {
  const begun: BegunStep[] = [];
  for (const step of steps) {
    try {
      const { state, mode } = await readState(files, step.path);
      // Somebody else's change would be lost.
      if (!isSameState(state, step.before))
        throw new Error("something else changed it meanwhile, maybe under another name");
      const current: BegunStep = { step, made: [], mode };
      begun.push(current);
      if (step.kind === "remove") await files.remove(step.path, { recursive: false, force: false });
      else await write(files, step, current.made, newId);
    } catch (error) {
      return { ok: false, path: step.path, reason: reasonOf(error), undone: await undoSteps(files, begun) };
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
    movedFrom === undefined ? files.writeFile(step.path, step.after) : writeMoved(files, { ...step, movedFrom }, newId);
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

/** The directories above a path that are not there, outermost first. */
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
