import { createHash } from "node:crypto";
import type { Clock } from "@codex/clock";
import { OrchestratorError, type ToolCallResult } from "@codex/orchestrator";
import { defined } from "@codex/values";
import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  type ImageContent,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { ParkedCall } from "../approvals/parked-calls.js";
import { DECISION, describeUnasked, readDecision, toElicitation } from "../approvals/question.js";
import { MAX_HOLD_MS } from "../limits.js";
import type { OnCancel } from "../options.js";
import { canPollTasks } from "../tasks/register-tasks.js";
import type { ClientState } from "./client-state.js";
import { Progress } from "./progress.js";

/** The request state that a client sends back with its answer. */
export interface CallState {
  /** Approval id. */
  id: string;
}

export interface CallOptions {
  maxHoldMs: number;
  onCancel: OnCancel;
  structured: boolean;
  cwd: string | undefined;
  clock: Clock;
  /** A request is answered by a question, and the answer comes with another one. Otherwise one request stays open for both. */
  isPerRequest: boolean;
  /** Declared once by clients of older revisions; newer ones declare them with each request. */
  capabilities: () => ClientCapabilities | undefined;
  seal: (state: CallState, context: ServerContext) => Promise<string>;
}

type CallHandler = (request: CallToolRequest, context: ServerContext) => Promise<CallToolResult | InputRequiredResult>;

/** Carries out the tool calls of one client. */
export function createCallHandler(state: ClientState, options: CallOptions): CallHandler {
  return async ({ params }, context) => {
    const release = options.isPerRequest && canPollTasks(context) ? state.tasks.reserve() : undefined;
    try {
      return await handleCall(state, options, params, context, release !== undefined);
    } finally {
      release?.();
    }
  };
}

/** `asTask`: becomes a task when it takes longer than a request is held. */
async function handleCall(
  state: ClientState,
  options: CallOptions,
  params: CallToolRequest["params"],
  context: ServerContext,
  asTask: boolean,
): Promise<CallToolResult | InputRequiredResult> {
  const maxWindowMs = asTask ? MAX_HOLD_MS : options.maxHoldMs;
  const call =
    takeParked(state, context) ?? startCall(state, params, context, { ...options, maxHoldMs: maxWindowMs, asTask });
  const progress = createProgress(context, options.clock);
  call.onOutput = (output) => progress?.output(output);
  const leg = await call.wait(context.mcpReq.signal, asTask ? options.maxHoldMs : undefined);
  // While an older client's user decides, its request stays open; `inputRequired` answers that of a newer one.
  if (leg.kind === "result" || options.isPerRequest) progress?.end();
  else if (progress !== undefined) void call.result.finally(() => progress.end());
  if (leg.kind === "held" || (leg.kind === "question" && asTask)) return createTask(call, state, options);
  if (leg.kind === "question") {
    state.parked.park(leg.request.id, call);
    const requestState = await options.seal({ id: leg.request.id }, context);
    return inputRequired({ requestState, inputRequests: { [DECISION]: toElicitation(leg.request) } });
  }
  if (context.mcpReq.signal.aborted) {
    // The request was cancelled: this result is not delivered.
    await followCancelled(leg.result, state, options.onCancel);
    return toResult(leg.result, [], false);
  }
  if (isUndeliverable(context)) {
    state.note(describeUndelivered(leg.result));
    return toResult(leg.result, [], false);
  }
  return toResult(leg.result, state.takeNotes(), options.structured);
}

/** The response that makes the client poll a task. */
function createTask(call: ParkedCall, state: ClientState, { structured, onCancel }: CallOptions): CallToolResult {
  const task = state.tasks.create(call, {
    toResult: (result) => toResult(result, state.takeNotes(), structured),
    onCancelled: (result) => followCancelled(result, state, onCancel),
  });
  // The SDK knows tasks by this discriminator alone, and requires `content` of what is returned here.
  return { content: [], resultType: "task", ...task.describe() };
}

/** The call whose question this request answers. @throws ProtocolError if it no longer waits */
function takeParked(state: ClientState, { mcpReq }: ServerContext): ParkedCall | undefined {
  const answered = mcpReq.requestState<CallState>();
  if (answered === undefined) return undefined;
  const call = state.parked.take(answered.id);
  if (call === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "the call does not wait for this answer any more");
  }
  // A question that was withdrawn meanwhile needs no answer, and its call goes on.
  const { question } = call;
  if (question?.id === answered.id) call.answer(readDecision(mcpReq.inputResponses, DECISION, question));
  return call;
}

function startCall(
  state: ClientState,
  { name, arguments: args }: CallToolRequest["params"],
  context: ServerContext,
  { maxHoldMs, cwd, clock, capabilities, asTask }: CallOptions & { asTask: boolean },
): ParkedCall {
  const { mcpReq } = context;
  const canAsk = canElicit(context, capabilities());
  return new ParkedCall(
    clock,
    // Tasks are bounded themselves.
    () => (asTask ? () => {} : state.parked.openQuestion()),
    async (approver, signal, onOutput) =>
      (await state.conversation).callTool(name, args ?? {}, {
        approver: canAsk ? approver : UNASKED,
        signal,
        maxWindowMs: maxHoldMs,
        ...defined({ cwd }),
        ...readKey(mcpReq._meta),
        ...(mcpReq._meta?.progressToken === undefined ? {} : { onOutput }),
      }),
  );
}

/** Newer clients declare their capabilities with each request, older ones did so once. */
function canElicit({ mcpReq }: ServerContext, capabilities: ClientCapabilities | undefined): boolean {
  const own: unknown = Reflect.get(mcpReq.envelope ?? {}, CLIENT_CAPABILITIES_META_KEY);
  return Reflect.get(Object(own ?? capabilities), "elicitation") !== undefined;
}

/** Rejects with the reason, which becomes part of the result. */
const UNASKED = {
  requestApproval: (request: Parameters<typeof describeUnasked>[0]) =>
    Promise.reject(new OrchestratorError("no_approver", describeUnasked(request))),
};

/** Codex gives its calls ids, and may send a call again. */
function readKey(meta: Readonly<Record<string, unknown>> | undefined): { idempotencyKey?: string } {
  const { callId, threadId } = meta ?? {};
  if (typeof callId !== "string" || callId === "") return {};
  // Of any length, and none is another's beginning.
  return {
    idempotencyKey: createHash("sha256")
      .update(JSON.stringify([threadId, callId]))
      .digest("hex"),
  };
}

function createProgress({ mcpReq }: ServerContext, clock: Clock): Progress | undefined {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return new Progress(clock, (progress, message) => {
    const params = { progressToken, progress, ...(message === "" ? {} : { message }) };
    // A disconnected client needs no progress.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  });
}

/** Text first: many hosts show a model nothing else. */
function toResult(result: ToolCallResult, notes: readonly string[], structured: boolean): CallToolResult {
  const text = [...notes.map((note) => `Note: ${note}`), result.text].join("\n");
  const { structured: details } = result;
  return {
    content: [{ type: "text", text }, ...imagesOf(result)],
    isError: result.isError,
    ...(details === undefined ? {} : { _meta: { "codex/result": details } }),
    ...(structured ? { structuredContent: { ...details, text } } : {}),
  };
}

const imagesOf = (result: ToolCallResult): ImageContent[] =>
  (result.isError ? [] : (result.images ?? [])).map(({ mediaType, data }) => ({
    type: "image",
    data,
    mimeType: mediaType,
  }));

/** Up to revision 2025-11-25 a disconnect over HTTP does not cancel a request, but its response cannot be sent any more. */
const isUndeliverable = ({ http }: ServerContext): boolean => http?.req?.signal.aborted === true;

function describeUndelivered({ text, structured }: ToolCallResult): string {
  const session: unknown = Reflect.get(Object(structured), "processId");
  const [first = ""] = text.split("\n").filter((line) => /^Process |^Exit|^Failed/.test(line));
  return typeof session === "number"
    ? `the result of an earlier call was not delivered, as its connection had ended; its program runs on as session ${session}, read_output reads what it wrote`
    : `the result of an earlier call was not delivered, as its connection had ended: ${first}`;
}

/** Handles a call cancelled by its client: its session keeps running, unless configured otherwise. */
async function followCancelled(result: ToolCallResult, state: ClientState, onCancel: OnCancel): Promise<void> {
  const session: unknown = Reflect.get(Object(result.structured), "processId");
  if (typeof session !== "number") return;
  if (onCancel === "keep") {
    return state.note(`an earlier call was cancelled by the client; its program runs on as session ${session}`);
  }
  const conversation = await state.conversation;
  const ending =
    onCancel === "kill"
      ? conversation.callTool("kill_session", { session_id: session })
      : conversation.callTool("write_stdin", { session_id: session, signal: "interrupt" });
  const { isError, text } = await ending;
  const done = onCancel === "kill" ? "was ended" : "was interrupted";
  state.note(
    isError
      ? `an earlier call was cancelled by the client; session ${session} could not be ended: ${text}`
      : `an earlier call was cancelled by the client; session ${session} ${done}`,
  );
}
