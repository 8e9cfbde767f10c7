import type { Sandbox } from "@codex/executor-protocol";
import { findUnwritable } from "@codex/permissions";
import { type ApprovalPolicy, refusingPolicy } from "./approval-policy.js";

/** What a change of files depends on. */
export interface FileChangeContext {
  /** Absolute paths that are written or removed, both as given and with symlinks resolved. */
  paths: readonly string[];
  approvalPolicy: ApprovalPolicy;
  /** Sandbox of the location; null for none. */
  sandbox: Sandbox | null;
  /** Why the host cannot sandbox file calls; undefined when it can. */
  noSandbox?: string | undefined;
  /** How the reason refers to it; default `patch`. */
  subject?: "patch" | "change";
}

/** Whether files may be changed. */
export type FileChangeVerdict = { kind: "allow" } | { kind: "ask" | "refuse"; reason: string };

/**
 * Evaluates a change as Codex 0.169.0 evaluates a patch: within the writable roots it is allowed, anything else needs approval, and
 * is refused when approval cannot be requested. `untrusted` requires approval of every change. Pure.
 */
export function evaluateFileChange(change: FileChangeContext): FileChangeVerdict {
  const { paths, approvalPolicy, sandbox, noSandbox, subject = "patch" } = change;
  const outside = findUnwritable(paths, sandbox);
  if (approvalPolicy === "untrusted") {
    return { kind: "ask", reason: `approval policy \`untrusted\` asks about every ${subject}` };
  }
  if (outside === undefined && (sandbox === null || noSandbox === undefined)) return { kind: "allow" };
  const reason =
    outside === undefined
      ? `access to its files cannot be sandboxed: ${noSandbox}`
      : `\`${outside}\` is outside of the writable roots`;
  const refusing = refusingPolicy(approvalPolicy, "sandboxApproval");
  if (refusing === undefined) return { kind: "ask", reason };
  return { kind: "refuse", reason: `${reason}, and approval policy ${refusing} does not ask` };
}
