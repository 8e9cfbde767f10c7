import { type Policy, refusingPolicy } from "@codex/policy";
import { digestQuestion } from "../approvals/binding.js";
import type { Selected } from "../resolve/select-executor.js";
import { type Evaluation, forbidden } from "./decision.js";
import { createOwnRequest } from "./own-request.js";
import type { DecidePorts } from "./ports.js";
import { sessionKey } from "./session-key.js";

/** A call of a tool that asks for approval, as it would be sent. */
export interface ToolCallDeed {
  readonly selected: Selected;
  /** Frozen, so that exactly what was approved is sent. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Name of the environment as shown to the approver. */
  readonly environment: string;
  /** Absolute directory of the turn; shown, and part of what a decision for the session covers. */
  readonly cwd: string;
}

const REASON = "the tool may change things or send data elsewhere";

/** Allowed where the policy requires neither approval nor a sandbox, forbidden where it never asks; otherwise the approver decides. */
export function evaluateToolCall(
  { selected: { tool }, args, environment, cwd }: ToolCallDeed,
  { approvalPolicy, sandbox }: Policy,
  { newId }: DecidePorts,
): Evaluation<undefined> {
  const cause = { kind: "policy" } as const;
  if (approvalPolicy === "never" && sandbox.unrestricted) {
    return {
      requirement: { kind: "skip", bypassSandbox: false },
      outcome: { kind: "allowed", terms: undefined },
    };
  }
  const refusing = refusingPolicy(approvalPolicy, "sandboxApproval");
  if (refusing !== undefined) {
    const reason = `${REASON}, and approval policy ${refusing} does not ask`;
    return { requirement: { kind: "forbidden", reason, cause }, outcome: forbidden(reason) };
  }
  const request = createOwnRequest({
    id: newId(),
    toolName: tool.name,
    environment,
    command: [tool.name, JSON.stringify(args)],
    cwd,
    reason: REASON,
    sandboxPermissions: "use_default",
  });
  const question = { request, keys: [sessionKey(request, request.command)], digest: digestQuestion(request) };
  return {
    requirement: { kind: "needsApproval", reason: REASON, cause, asking: null },
    outcome: { kind: "ask", terms: undefined, reason: REASON, question },
  };
}
