import type { CallDecision } from "@codex/orchestrator";
import type { FileSandboxes } from "../../files/file-place.js";

/** Location at which a patch is applied. */
export interface PatchPlace {
  environment: string;
  /** Absolute. */
  cwd: string;
}

/** A patch that matches the files and is ready to be applied. */
export interface PatchRequest extends PatchPlace {
  /** Shown when approval is requested. */
  text: string;
  /** Absolute paths that it writes or removes. */
  paths: readonly string[];
}

/** Decision about a patch, and the sandbox of its file calls. */
export type PatchPermit = { decision?: CallDecision } & (
  | {
      kind: "granted";
      fileSandbox: unknown;
      /** Call when the patch was applied, or was not. */
      ended?: (isApplied: boolean) => void;
    }
  | { kind: "refused"; reason: string }
  /** The user ended the turn. */
  | { kind: "cancelled" }
);

/** Policy for file access of an agent's own tools. */
export interface FilePolicy extends FileSandboxes {
  /** Evaluates a patch, and requests approval if the policy requires it. The signal cancels only the wait. */
  permit(request: PatchRequest, signal: AbortSignal): Promise<PatchPermit>;
}
