import type { Sandbox } from "@codex/executor-protocol";
import { findUnwritable } from "@codex/permissions";
import { type ApprovalPolicy, refusingPolicy } from "@codex/policy";

/** What is to be judged of a patch. */
export interface JudgedPatch {
  /** Everything that it writes or removes, absolute, also as it is with links followed. */
  paths: readonly string[];
  approvalPolicy: ApprovalPolicy;
  /** The sandbox of the place; null for none. */
  sandbox: Sandbox | null;
  /** Why the host cannot hold file calls in a sandbox; undefined where it can. */
  noSandbox?: string | undefined;
}

/** Whether a patch may be applied, in the sandbox of its place. */
export type PatchVerdict = { kind: "allow" } | { kind: "ask" | "refuse"; reason: string };

/**
 * Judges a patch as Codex 0.169.0 does: inside of what may be written it is applied in the sandbox; anything else is asked,
 * and refused where nobody may be asked. `untrusted` asks about every patch. Pure.
 */
export function judgePatch({ paths, approvalPolicy, sandbox, noSandbox }: JudgedPatch): PatchVerdict {
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
