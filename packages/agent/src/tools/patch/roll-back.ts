import type { FileState } from "@codex/apply-patch";
import { type AgentFiles, pathOfFileUrl, reasonOf } from "../../files/agent-files.js";
import { isSameState, readState } from "./file-states.js";
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
  for (const one of started.toReversed()) results.unshift(await undo(files, one));
  return results;
}

async function undo(files: AgentFiles, started: StartedStep): Promise<RolledBackFile> {
  const { step } = started;
  let reason: string | undefined;
  try {
    await restore(files, started);
  } catch (error) {
    reason = reasonOf(error);
  }
  const { path } = step;
  const { state: now } = await readState(files, path);
  if (isSameState(now, step.before)) return { path, state: "before" };
  if (now.kind === "unreadable") return { path, state: "unknown", reason: reason ?? now.reason };
  const after: FileState = step.kind === "remove" ? { kind: "missing" } : { kind: "file", bytes: step.after };
  const state = isSameState(now, after) ? "after" : "other";
  return { path, state, ...(reason === undefined ? {} : { reason }) };
}

async function restore(files: AgentFiles, { step, made, mode }: StartedStep): Promise<void> {
  const { path, before } = step;
  const { state: now } = await readState(files, path);
  if (before.kind === "file") {
    if (isSameState(now, before)) return;
    if (step.kind === "remove" && before.isLink) {
      throw new Error("it was a symbolic link, which no file call can recreate");
    }
    const isGone = now.kind === "missing" && mode !== undefined;
    await files.writeFile(path, before.bytes, { atomic: true, ...(isGone ? { mode } : {}) });
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
