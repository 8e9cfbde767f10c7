import type { Sandbox, ToolContract, WriteStdinRequest } from "@codex/executor-protocol";
import type { Selected } from "../resolve/select-executor.js";
import { doesSomething } from "../resolve/write-stdin.js";
import { lostSession } from "../respond/respond.js";
import { fail, type ToolCallResult } from "../result.js";
import type { CallContext } from "./call-context.js";
import type { CallToolOptions } from "./call-options.js";
import { sendCall } from "./send-call.js";

/** A call as it is sent. */
export interface Outgoing {
  wireArguments: Record<string, unknown>;
  /** Undefined for a tool without a contract. */
  windowMs: number | undefined;
  notices: readonly string[];
  /** Not sent to another instance of the executor. Default: if it is about a session. */
  isInstanceBound?: boolean;
}

/** Records and sends a call that was decided about. */
export async function send(
  { executor, tool, session }: Selected,
  { wireArguments, windowMs, notices, isInstanceBound = session !== undefined }: Outgoing,
  { signal, onOutput, sessionScope, client }: CallToolOptions,
  { sessions, config, newKey, trail, telemetry, trace, progress }: CallContext,
): Promise<ToolCallResult> {
  if (client !== undefined && !executor.can("clients")) {
    const reason = `executor \`${executor.name}\` does not separate the sessions of clients. Nothing was run.`;
    return fail("unsendable", reason);
  }
  const unrecorded = trail.sending(wireArguments.sandbox as Sandbox | null | undefined);
  const refusal = unrecorded === undefined ? undefined : await unrecorded;
  if (refusal !== undefined) return refusal;
  if (session?.state.kind === "lost") {
    const result = lostSession(session, session.state.reason);
    trail.answered(result);
    return result;
  }
  progress.isSent = true;
  // Created right before sending: keys count up, and one that arrives after many later ones counts as a repeat.
  const keyed = executor.initialized ? addKey(tool.contract, wireArguments, newKey) : { arguments: wireArguments };
  const { answerMarginMs, toolAnswerMs } = config.timings;
  const waits =
    windowMs === undefined ? { windowMs: 0, marginMs: toolAnswerMs } : { windowMs, marginMs: answerMarginMs };
  const call = { executor, tool, ...keyed, ...waits, notices, session, signal, onOutput, sessionScope, client };
  const watch = telemetry.send(executor.name, trace);
  const result = await sendCall(
    { ...call, isInstanceBound, trace: watch.trace },
    { sessions, limits: config.limits, timings: config.timings },
  );
  watch.end(result);
  trail.answered(result);
  return result;
}

/** Adds an idempotency key, so that a repeat has no effect; unified-exec tools have it among their arguments. */
function addKey(contract: ToolContract | undefined, args: Record<string, unknown>, newKey: () => string) {
  switch (contract) {
    case "unified_exec.exec_command":
      return { arguments: { ...args, idempotencyKey: newKey() } };
    case "unified_exec.write_stdin":
      return { arguments: doesSomething(args as WriteStdinRequest) ? { ...args, writeId: newKey() } : args };
    case undefined:
      return { arguments: args, idempotencyKey: newKey() };
  }
}
