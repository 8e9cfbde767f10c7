import type { Patch } from "../patch.js";
import type { FilesBefore } from "./plan.js";
import { isApplied, planPatch } from "./plan-patch.js";

/** State of a file relative to a patch: `before`, `after`, or `other` when it matches neither. */
export interface ComparedFile {
  /** As in the patch. */
  shownPath: string;
  state: "before" | "after" | "other";
}

/** Determines from the files how far an interrupted patch was applied. */
export function comparePatch({ operations }: Patch, cwd: string, files: FilesBefore): ComparedFile[] {
  return operations.map((operation) => {
    if (isApplied(operation, cwd, files.states)) return { shownPath: operation.path, state: "after" };
    const { ok } = planPatch({ operations: [operation] }, cwd, files);
    return { shownPath: operation.path, state: ok ? "before" : "other" };
  });
}
