import type { Sandbox } from "@codex/executor-protocol";
import { findUnwritable } from "@codex/permissions";
import { type ApprovalPolicy, refusingPolicy } from "@codex/policy";

/** Input of {@link evaluatePatch}. */
export interface PatchEvaluation {
  /** Absolute paths that the patch writes or removes, both as given and with symlinks resolved. */
  paths: readonly string[];
  approvalPolicy: ApprovalPolicy;
  /** Sandbox of the location; null for none. */
  sandbox: Sandbox | null;
  /** Why the host cannot sandbox file calls; undefined when it can. */
  noSandbox?: string | undefined;
}

/** Whether a patch may be applied. */
export type PatchVerdict = { kind: "allow" } | { kind: "ask" | "refuse"; reason: string };

/**
 * Evaluates a patch as Codex 0.169.0 does: within the writable roots it is allowed, anything else needs approval, and is
 * refused when approval cannot be requested. `untrusted` requires approval of every patch. Pure.
 */
export function evaluatePatch({ paths, approvalPolicy, sandbox, noSandbox }: PatchEvaluation): PatchVerdict {
  const outside = findUnwritable(paths, sandbox);
  if (approvalPolicy === "untrusted") {
    return { kind: "ask", reason: "approval policy `untrusted` asks about every patch" };
  }
  if (outside === undefined && (sandbox === null || noSandbox === undefined)) return { kind: "allow" };
  const reason =
    outside === undefined
      ? `its files cannot be held in a sandbox: ${noSandbox}`
      : `\`${outside}\` is outside of the writable roots`;
  const refusing = refusingPolicy(approvalPolicy, "sandboxApproval");
  if (refusing === undefined) return { kind: "ask", reason };
  return { kind: "refuse", reason: `${reason}, and approval policy ${refusing} asks nobody` };
}
