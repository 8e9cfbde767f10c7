import { MAX_AUDIT_LIST } from "@codex/audit";
import { type CallDecision, noteDecisions } from "../audit/noted-decision.js";
import type { CallPorts } from "../calls/call-context.js";
import type { FileAccessDeed } from "../decide/file-access.js";
import { fail, refuse } from "../result.js";
import type { FileDecision } from "./file-decision.js";
import type { FileAccessOptions } from "./orchestrator-files.js";

/** Decides about an access, and begins its record, in which the arguments are a hash. */
export async function decideFileAccess(
  { args, ...deed }: FileAccessDeed & { readonly args: unknown },
  { signal, approver, client }: Pick<FileAccessOptions, "signal" | "approver" | "client">,
  { auditor, deciders }: Pick<CallPorts, "auditor" | "deciders">,
): Promise<FileDecision> {
  const environment = deed.executor.name;
  let decision: CallDecision = { by: "policy", rules: [] };
  const trail = noteDecisions(auditor.begin(deed.tool), MAX_AUDIT_LIST, (latest) => {
    decision = latest;
  });
  trail.tool(environment, args, undefined);
  const decided = await deciders.asking(environment, { client, approver, trail }).fileAccess(deed, signal);
  if (decided.kind === "ask") throw new Error("it was only judged");
  if (decided.kind === "refused") {
    const { code, reason } = decided;
    const status =
      code === "sandbox_unavailable" || code === "changed" ? "error" : code === "closed" ? "interrupted" : code;
    trail.ended(refuse(status, "", { code, reason }));
    return { kind: "refused", code, reason, decision };
  }
  const { sandbox } = decided.terms;
  const unrecorded = await trail.sending(sandbox);
  if (unrecorded !== undefined) {
    return { kind: "refused", code: "audit_failed", reason: unrecorded.structured.reason, decision };
  }
  const ended = (isDone: boolean) => trail.answered(isDone ? DONE : fail("tool_failed", ""));
  return { kind: "allowed", sandbox, ended, decision };
}

const DONE = { status: "success", isError: false, text: "", structured: undefined } as const;
