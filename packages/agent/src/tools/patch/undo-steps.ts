import type { FileState } from "@codex/apply-patch";
import { type AgentFiles, pathOfFileUrl, reasonOf } from "../../files/agent-files.js";
import type { BegunStep } from "./begun-step.js";
import { isSameState, readState } from "./file-states.js";

/** What is true of a file after a patch was given up. */
export interface Undone {
  path: string;
  /** `other`: neither the content before nor that of the patch. `unknown`: it cannot be read. */
  state: "before" | "after" | "other" | "unknown";
  /** Why it is not as before. */
  reason?: string;
}

/** Puts files back as they were, last step first, and looks what they are then. Never rejects. */
export async function undoSteps(files: AgentFiles, begun: readonly BegunStep[]): Promise<Undone[]> {
  const undone: Undone[] = [];
  for (const one of begun.toReversed()) undone.unshift(await undo(files, one));
  return undone;
}

async function undo(files: AgentFiles, begun: BegunStep): Promise<Undone> {
  const { step } = begun;
  let reason: string | undefined;
  try {
    await restore(files, begun);
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

async function restore(files: AgentFiles, { step, made, mode }: BegunStep): Promise<void> {
  const { path, before } = step;
  const { state: now } = await readState(files, path);
  if (before.kind === "file") {
    if (isSameState(now, before)) return;
    if (step.kind === "remove" && before.isLink) {
      throw new Error("it was a symbolic link, which no file call makes again");
    }
    const isGone = now.kind === "missing" && mode !== undefined;
    await files.writeFile(path, before.bytes, isGone ? { mode } : {});
    return;
  }
  // Behind a link that led nowhere the file is elsewhere, and the link was there before.
  if (now.kind === "file") {
    await files.remove(pathOfFileUrl(await files.canonicalize(path)), { recursive: false, force: false });
  }
  for (const directory of made.toReversed()) {
    // Somebody else may have put something there: it stays then.
    await files.remove(directory, { recursive: false, force: true }).catch(() => {});
  }
}
