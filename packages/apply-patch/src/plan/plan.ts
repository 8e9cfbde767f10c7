import type { PatchProblem } from "../patch.js";

/** What is at a path before the patch. */
export type FileState =
  | { kind: "missing" }
  | { kind: "directory" }
  | {
      kind: "file";
      /** Its whole content. */
      bytes: Uint8Array;
      /** The path is a symbolic link to it. */
      isLink?: boolean;
    }
  /** Something else, or something that cannot be read; `reason` completes "cannot be read: …". */
  | { kind: "unreadable"; reason: string };

/** What a plan needs to know of the files. */
export interface FilesBefore {
  /** By absolute path, for every path of `getPatchPaths`. */
  states: ReadonlyMap<string, FileState>;
  /** Where links on the way lead, for paths where they do: two names of one file are refused. */
  realPaths?: ReadonlyMap<string, string>;
}

/** A patch as file operations, to be done in this order: at any point each file is as before or as afterwards. */
export interface Plan {
  steps: readonly Step[];
  changes: readonly FileChange[];
}

/** One file operation. */
export type Step =
  | {
      kind: "write";
      path: string;
      before: FileState;
      after: Uint8Array;
      /** The file that moved here, whose permissions go with it. */
      movedFrom?: string;
    }
  | { kind: "remove"; path: string; before: FileState };

/** What a patch does to a file, for people and for the model. */
export interface FileChange {
  kind: "add" | "delete" | "update";
  /** Absolute. */
  path: string;
  /** As in the patch. */
  shownPath: string;
  /** Absolute new place. */
  moveTo?: string;
  shownMoveTo?: string;
}

/** A plan, or everything that keeps the patch from being applied, and the files that already are as it leaves them. */
export type Planned =
  | { ok: true; plan: Plan }
  | { ok: false; problems: readonly PatchProblem[]; applied: readonly string[] };
