import type { ApprovalRequest } from "../approvals/approver.js";
import { NO_TRAIL } from "../audit/audit-trail.js";
import { NO_CALL_HOOKS } from "../hooks/call-hooks.js";
import type { RefusedCall } from "../result.js";
import type { CallToolOptions } from "./call-options.js";
import { failed, prepareCall } from "./call-tool.js";
import type { HandlerPorts } from "./file-tool-port.js";
import { type Prepared, stopped } from "./prepared.js";

/** The decision about a call before anything is sent. */
export type Judgement =
  /** It would be sent without approval. */
  | { kind: "allowed" }
  /** Approval is required. `digest` identifies everything that the decision covers: return it in `CallToolOptions.grant`. */
  | { kind: "ask"; request: ApprovalRequest; digest: string }
  /** The policy refuses it; `result` is what `callTool` would return. */
  | { kind: "forbidden"; result: RefusedCall }
  /** It cannot be executed, for example because of an invalid argument or an offline executor. */
  | { kind: "rejected"; result: RefusedCall };

/** Processes a call up to the point where approval would be requested or it would be sent. Changes nothing. */
export async function judgeToolCall(
  toolName: string,
  args: unknown,
  options: CallToolOptions,
  ports: HandlerPorts,
): Promise<Judgement> {
  const own = { ...ports, trail: NO_TRAIL, progress: { isSent: false }, trace: undefined, callHooks: NO_CALL_HOOKS };
  const createDecider = (environment: string) => ports.deciders.judging(environment, options.client);
  const prepared = await prepareCall(toolName, args, options, own, createDecider).catch(
    (error: unknown): Prepared => stopped(failed(error, false)),
  );
  if (prepared.kind === "ask") return prepared;
  if (prepared.kind === "ready") return { kind: "allowed" };
  const { result } = prepared;
  // The output of a session that is lost or gone is read without anything being sent.
  if (!result.isError || result.status === "lost") return { kind: "allowed" };
  return { kind: result.status === "forbidden" ? "forbidden" : "rejected", result };
}
