import type { Patch } from "../patch.js";
import type { FilesBefore } from "./plan.js";
import { isApplied, planPatch } from "./plan-patch.js";

/** How a file of a patch is: `before` it, `after` it, or `other`: the patch fits neither way. */
export interface ComparedFile {
  /** As in the patch. */
  shownPath: string;
  state: "before" | "after" | "other";
}

/** Tells from the files alone how far a patch got that was interrupted. */
export function comparePatch({ operations }: Patch, cwd: string, files: FilesBefore): ComparedFile[] {
  return operations.map((operation) => {
    if (isApplied(operation, cwd, files.states)) return { shownPath: operation.path, state: "after" };
    const { ok } = planPatch({ operations: [operation] }, cwd, files);
    return { shownPath: operation.path, state: ok ? "before" : "other" };
  });
}
