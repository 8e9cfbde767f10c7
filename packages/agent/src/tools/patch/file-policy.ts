import type { Sandbox } from "@codex/executor-protocol";
import type { CallDecision, Orchestrator } from "@codex/orchestrator";
import { messageOf } from "@codex/values";
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

/** Options of {@link createFilePolicy}. */
export interface FilePolicyOptions {
  /** Decides, asks, remembers and records, as for commands. */
  files: Pick<Orchestrator["files"], "decide" | "sandboxOf">;
  /** Absolute workspace directories of an environment, the working directory first; default the directory of the turn. */
  workspaceRootsOf?: (environment: string) => readonly string[] | undefined;
  /** Converts a sandbox to the form that file calls accept. */
  toFileSandbox: (sandbox: Sandbox) => unknown;
}

/** The policy of an orchestrator, for the files of an agent's own tools. */
export function createFilePolicy({ files, workspaceRootsOf, toFileSandbox }: FilePolicyOptions): FilePolicy {
  const toFile = (sandbox: Sandbox | null): unknown => (sandbox === null ? undefined : toFileSandbox(sandbox));
  const locate = ({ environment, cwd }: PatchPlace) => ({
    environment,
    cwd,
    workspaceRoots: workspaceRootsOf?.(environment),
  });
  return {
    async sandboxOf(place) {
      const chosen = await files.sandboxOf(locate(place)).catch((error: unknown) => ({ refused: messageOf(error) }));
      return "refused" in chosen ? chosen : { fileSandbox: toFile(chosen.sandbox) };
    },
    async permit({ text, paths, ...place }, signal) {
      const decided = await files
        .decide({ ...locate(place), tool: "apply_patch", paths, text }, { signal })
        .catch((error: unknown) => ({ kind: "failed" as const, reason: messageOf(error) }));
      if (decided.kind === "failed") return { kind: "refused", reason: decided.reason };
      const { decision } = decided;
      if (decided.kind === "allowed") {
        return { kind: "granted", fileSandbox: toFile(decided.sandbox), decision, ended: decided.ended };
      }
      return decided.code === "cancelled"
        ? { kind: "cancelled", decision }
        : { kind: "refused", reason: decided.reason, decision };
    },
  };
}
