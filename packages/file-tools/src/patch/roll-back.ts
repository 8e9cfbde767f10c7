import type { FileState } from "@codex/apply-patch";
import { defined, messageOf } from "@codex/values";
import { type AgentFiles, pathOfFileUrl } from "../agent-files.js";
import { expecting, isSameState, readState } from "./file-states.js";
import type { StartedStep } from "./started-step.js";

/** State of a file after a rollback. */
export interface RolledBackFile {
  path: string;
  /** `before` and `after` the patch; `other`: neither. `unknown`: it cannot be read. */
  state: "before" | "after" | "other" | "unknown";
  /** Why it was not restored. */
  reason?: string;
}

/** Restores files, last step first, and reads their resulting state. Never rejects. */
export async function rollBack(files: AgentFiles, started: readonly StartedStep[]): Promise<RolledBackFile[]> {
  const results: RolledBackFile[] = [];
  for (const one of started.toReversed()) results.unshift(await undo(files, one, one !== started.at(-1)));
  return results;
}

/** `isDone`: the step had succeeded, so that a third content is somebody else's. */
async function undo(files: AgentFiles, started: StartedStep, isDone: boolean): Promise<RolledBackFile> {
  const { step } = started;
  let reason: string | undefined;
  try {
    const { state } = await readState(files, step.path);
    if (isDone && !isSameState(state, afterOf(step)) && !isSameState(state, step.before)) {
      throw new Error(state.kind === "unreadable" ? state.reason : "something else changed it after the patch did");
    }
    await restore(files, started, state);
  } catch (error) {
    reason = messageOf(error);
  }
  const { path } = step;
  const { state: now } = await readState(files, path);
  if (isSameState(now, step.before)) return { path, state: "before" };
  if (now.kind === "unreadable") return { path, state: "unknown", reason: reason ?? now.reason };
  const state = isSameState(now, afterOf(step)) ? "after" : "other";
  return { path, state, ...defined({ reason }) };
}

const afterOf = (step: StartedStep["step"]): FileState =>
  step.kind === "remove" ? { kind: "missing" } : { kind: "file", bytes: step.after };

async function restore(files: AgentFiles, { step, made, mode }: StartedStep, now: FileState): Promise<void> {
  const { path, before } = step;
  if (step.kind === "remove" && before.isLink && !isSameState(now, before)) {
    throw new Error("it was a symbolic link, which no file call can recreate");
  }
  if (before.kind === "file") {
    if (isSameState(now, before)) return;
    const isGone = now.kind === "missing" && mode !== undefined;
    await files.writeFile(path, before.bytes, { atomic: true, ...expecting(now), ...(isGone ? { mode } : {}) });
    return;
  }
  // Through a symlink that was dangling the file was created elsewhere; the symlink itself stays.
  if (now.kind === "file") {
    await files.remove(pathOfFileUrl(await files.canonicalize(path)), { recursive: false, force: false });
  }
  for (const directory of made.toReversed()) {
    // A directory that is no longer empty stays.
    await files.remove(directory, { recursive: false, force: true }).catch(() => {});
  }
}
