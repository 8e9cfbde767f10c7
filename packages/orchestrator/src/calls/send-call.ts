import {
  type ExecutorConnection,
  type IncomingOutput,
  type LearnedTool,
  type LiveOutput,
  type OutputListener,
  type OutputPiece,
  OutputTracker,
} from "@codex/executor-client";
import type { TraceContext } from "@codex/telemetry";
import type { Session, SessionTable } from "../executors/sessions.js";
import type { OrchestratorLimits, OrchestratorTimings } from "../limits.js";
import { respond } from "../respond/respond.js";
import type { ToolCallResult } from "../result.js";

/** A call to send, and the listener for its output. */
export interface OutgoingCall {
  executor: ExecutorConnection;
  tool: LearnedTool;
  arguments: unknown;
  /** Window of the call, milliseconds. */
  windowMs: number;
  /** Time beyond the window after which the response counts as missing, milliseconds. */
  marginMs: number;
  notices: readonly string[];
  /** The session the arguments name. */
  session: Session | undefined;
  signal: AbortSignal | undefined;
  onOutput: ((output: LiveOutput) => unknown) | undefined;
  sessionScope: "own" | "executor" | undefined;
  /** The client of the call, where there are several. */
  client: string | undefined;
  idempotencyKey?: string | undefined;
  /** Only valid for the current instance of the executor, not for one that replaces it. */
  isInstanceBound: boolean;
  /** Parent of its spans. */
  trace: TraceContext | undefined;
}

export interface SendContext {
  sessions: SessionTable;
  limits: OrchestratorLimits;
  timings: OrchestratorTimings;
}

/** Sends a call and waits for its result. Always ends, never rejects. */
export async function sendCall(call: OutgoingCall, context: SendContext): Promise<ToolCallResult> {
  const { executor, tool } = call;
  const { sessions } = context;
  const followed = new FollowedOutput(call, sessions);
  // When the response arrives, another executor may have the same name.
  const { owner } = executor;
  const sent = executor.call({
    toolName: tool.name,
    arguments: call.arguments,
    // Earlier calls on the same session run first.
    deadlineMs: followed.aheadMs + call.windowMs + call.marginMs,
    isInstanceBound: call.isInstanceBound,
    output: followed,
    sessionScope: call.sessionScope,
    client: call.client,
    idempotencyKey: call.idempotencyKey,
    trace: call.trace,
  });
  let interruption: string | undefined;
  const onAbort = () => {
    const cancels = executor.can("cancel_tool");
    const graceMs = cancels ? context.timings.cancelGraceMs : 0;
    if (cancels) executor.cancel(sent.requestId);
    interruption = cancels
      ? `the call was interrupted, and the executor did not answer within ${graceMs} ms`
      : "the call was interrupted, and this executor does not support cancelling calls";
    sent.expire(graceMs);
  };
  call.signal?.addEventListener("abort", onAbort, { once: true });
  if (call.signal?.aborted) onAbort();
  const reply = await sent.reply;
  call.signal?.removeEventListener("abort", onAbort);
  followed.end();
  return respond({
    reply,
    toolName: tool.name,
    unifiedExec: tool.contract !== undefined,
    environment: executor.name,
    owner,
    outage: executor.lostReason,
    sessions,
    problems: executor.problems,
    notices: call.notices,
    interruption,
    session: followed.session,
    client: call.client,
    resultTextBytes: context.limits.resultTextBytes,
  });
}

/** Passes live output to the caller, and determines the session of a call before its response arrives. */
class FollowedOutput implements OutputListener {
  session: Session | undefined;
  /** Sum of the windows of earlier pending calls on the session, milliseconds. */
  readonly aheadMs: number;
  readonly #call: OutgoingCall;
  readonly #sessions: SessionTable;
  readonly #tracker = new OutputTracker();

  constructor(call: OutgoingCall, sessions: SessionTable) {
    this.#call = call;
    this.#sessions = sessions;
    this.#tracker.processId = call.session?.processId;
    this.aheadMs = call.session?.pendingMs ?? 0;
    if (call.session !== undefined) this.#join(call.session);
  }

  /** Called when the call has completed. */
  end(): void {
    if (this.session !== undefined) this.session.pendingMs -= this.#call.windowMs;
  }

  #join(session: Session): Session {
    this.session = session;
    session.pendingMs += this.#call.windowMs;
    return session;
  }

  accept(output: IncomingOutput, seq: number): boolean {
    const problem = this.#tracker.findProblem(output);
    if (problem === undefined) this.#track(output, seq);
    else this.#call.executor.problems.note("invalid_output", problem);
    return problem === undefined;
  }

  deliver({ processId, ...piece }: OutputPiece): void | Promise<void> {
    const { executor, onOutput } = this.#call;
    if (onOutput === undefined) return;
    const output = { ...piece, sessionId: this.session?.id ?? processId };
    return executor.problems.guard("onOutput", () => onOutput(output));
  }

  /** Only tools with a contract have sessions; `processId` of another tool is ignored. */
  #track({ processId, offset, bytes }: IncomingOutput, seq: number): void {
    if (this.#call.tool.contract === undefined) return;
    const session =
      this.session ?? this.#join(this.#sessions.adopt(this.#call.executor.owner, processId, this.#call.client));
    session.lastSeq = Math.max(session.lastSeq, seq);
    session.lastOffset = Math.max(session.lastOffset, offset + bytes.length);
  }
}
