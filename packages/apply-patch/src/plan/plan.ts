import type { PatchProblem } from "../patch.js";

/** State of a path before the patch. `isLink`: the path is a symbolic link, and the rest is what it leads to. */
export type FileState = { isLink?: boolean } & (
  | { kind: "missing" }
  | { kind: "directory" }
  | {
      kind: "file";
      /** Its whole content. */
      bytes: Uint8Array;
    }
  /** Another type of file, or unreadable; `reason` completes "cannot be read: …". */
  | { kind: "unreadable"; reason: string }
);

/** State of the files before the patch. */
export interface FilesBefore {
  /** By absolute path, for all paths of `getPatchPaths`. */
  states: ReadonlyMap<string, FileState>;
  /** Paths with symlinks resolved, where they differ; used to detect two names of one file. */
  realPaths?: ReadonlyMap<string, string>;
}

/** A patch as file operations in order; between two steps each file has its old or its new content. */
export interface Plan {
  steps: readonly Step[];
  changes: readonly PlannedChange[];
}

/** One file operation. */
export type Step =
  | {
      kind: "write";
      path: string;
      before: FileState;
      after: Uint8Array;
      /** Source of a move, whose permissions are kept. */
      movedFrom?: string;
    }
  | { kind: "remove"; path: string; before: FileState };

/** A change of one file, for display. */
export interface PlannedChange {
  kind: "add" | "delete" | "update";
  /** Absolute. */
  path: string;
  /** As in the patch. */
  shownPath: string;
  /** Absolute new path. */
  moveTo?: string;
  shownMoveTo?: string;
}

/** A plan, or all problems, with the files to which the patch has already been applied. */
export type Planned =
  | { ok: true; plan: Plan }
  | { ok: false; problems: readonly PatchProblem[]; applied: readonly string[] };
