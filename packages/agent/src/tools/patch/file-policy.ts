import type { CallDecision } from "@codex/orchestrator";
import type { FileSandboxes } from "../../files/file-place.js";

/** Where a patch is applied. */
export interface PatchPlace {
  environment: string;
  /** Absolute. */
  cwd: string;
}

/** A patch that fits the files and is about to be applied. */
export interface PatchRequest extends PatchPlace {
  /** What the person sees who is asked. */
  text: string;
  /** Everything that it writes or removes, absolute. */
  paths: readonly string[];
}

/** Whether a patch is applied, and what its file calls carry. */
export type PatchPermit = { decision?: CallDecision } & (
  | {
      kind: "granted";
      fileSandbox: unknown;
      /** To be called when the patch was applied, or was not. */
      ended?: (isApplied: boolean) => void;
    }
  | { kind: "refused"; reason: string }
  /** The person ends the turn. */
  | { kind: "cancelled" }
);

/** Decides about the file calls of an agent's own tools. */
export interface FilePolicy extends FileSandboxes {
  /** Judges a patch, and asks where the policy wants that. The signal ends only the waiting. */
  permit(request: PatchRequest, signal: AbortSignal): Promise<PatchPermit>;
}
