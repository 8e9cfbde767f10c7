import { type CallReply, describeReply, type ProblemLog, type SessionOwner } from "@codex/executor-client";
import type { UnifiedExecResult } from "@codex/executor-protocol";
import { cutToBytes } from "@codex/telemetry";
import { defined } from "@codex/values";
import type { Session, SessionTable } from "../executors/sessions.js";
import { fail, interrupted, type LostCall, refuse, type ToolCallResult } from "../result.js";
import { checkResult, findResultProblem } from "./check-result.js";
import { explainSessions, runningSession, translateResult, translateSentence } from "./session-text.js";

/** A reply, and the information needed to convert it into a result. */
export interface Response {
  reply: CallReply;
  toolName: string;
  /** The tool has a unified-exec contract: its result is checked against it. */
  unifiedExec: boolean;
  environment: string;
  owner: SessionOwner;
  sessions: SessionTable;
  problems: ProblemLog;
  /** Changes to the request, one sentence each. */
  notices: readonly string[];
  /** Set if the caller's signal ended the wait: the reason for a missing response. */
  interruption: string | undefined;
  /** Why the channel was lost, while reconnecting. */
  outage: string | undefined;
  /** The session of the call, if it is known without the response. */
  session: Session | undefined;
  /** The client of the call. */
  client: string | undefined;
  /** Bytes. */
  resultTextBytes: number;
}

/** The result of a call that was sent. Never throws, whatever the response is. */
export function respond(response: Response): ToolCallResult {
  const { reply } = response;
  if (reply.kind === "answer") return respondToAnswer(response, reply.message);
  if (reply.kind === "refused") return toolFailed(response, reply.message);
  if (reply.kind === "unsent") return unsent(response, reply);
  const gaveUp = reply.kind === "timeout" ? response.interruption : undefined;
  const reason = gaveUp ?? describeReply(reply);
  if (reply.kind !== "timeout" || response.outage === undefined) return lost(response, reason);
  return lost(response, `${reason}; its channel was lost (${response.outage}) and is being reconnected`);
}

function unsent(response: Response, reply: Extract<CallReply, { kind: "unsent" }>): ToolCallResult {
  const { environment, interruption, outage, session, toolName } = response;
  const { cause, reason } = reply;
  if (cause === "refused") return fail("unsendable", `\`${toolName}\`: ${describeReply(reply)}`);
  if (interruption !== undefined) return interrupted();
  if (cause === "changed") return fail("changed", `Executor \`${environment}\`: ${reason}. Nothing was run.`);
  if (cause === "offline" && session !== undefined) return lostSession(session, reason);
  return offline(environment, cause === "unreached" && outage !== undefined ? `${outage}; ${reason}` : reason);
}

/** Nothing was sent, because the executor was offline. */
export function offline(environment: string, reason: string): ToolCallResult {
  return fail("executor_offline", `Executor \`${environment}\` is offline: ${reason}. Nothing was run.`);
}

/** Nothing was sent, because the session's executor is offline. States that it is unknown whether the session still runs. */
export function lostSession(session: Session, reason: string): LostCall {
  const { name: environment } = session.owner;
  const text = `Executor \`${environment}\` is offline: ${reason}. Session ${session.id} was running there when it was last seen; whether it still runs is unknown.`;
  const { lastSeq, lastOffset } = session;
  const outcome = { kind: "lost" as const, reason, lastSeq };
  return {
    status: "lost",
    isError: true,
    text,
    structured: { outcome, environment, sessionId: session.id, lastOffset },
  };
}

const describeLast = ({ id, lastOffset }: Session): string =>
  `Session ${id} was running when it was last seen${lastOffset === 0 ? "" : `, with ${lastOffset} bytes of output`}.`;

type Answer = Extract<CallReply, { kind: "answer" }>["message"];

function respondToAnswer(response: Response, message: Answer): ToolCallResult {
  const { toolName, problems } = response;
  if (message.toolName !== toolName) {
    problems.note("wrong_answer", `response for tool \`${message.toolName}\` to a call of \`${toolName}\``);
  }
  const { outcome } = message;
  if (outcome.status === "error") return toolFailed(response, outcome.message);
  const text = outcome.content.map((item) => item.text).join("\n");
  if (response.unifiedExec) return respondToExec(response, text, outcome.structured);
  const explained = explainSessions(text, response.sessions.renamed(response.owner));
  const problem = findResultProblem(toolName, outcome.structured);
  if (problem === undefined) return answered(response, explained, outcome.structured, []);
  return answered(response, explained, undefined, [leaveOut(response, problem)]);
}

/** Notes a structured result that is left out, and returns the sentence about it. */
function leaveOut({ problems }: Response, problem: string): string {
  problems.note("invalid_result", problem);
  return `the executor's structured result was left out: ${problem}`;
}

function toolFailed(response: Response, message: string): ToolCallResult {
  const reason = bounded(response, translateSentence(message, response.owner, response.sessions, false));
  const text = withNotices(reason, response.notices);
  return refuse("error", text, { code: "tool_failed", reason });
}

function lost(response: Response, reason: string): LostCall {
  const { environment, session } = response;
  const lastSeq = session?.lastSeq ?? 0;
  const state = session === undefined ? "" : ` ${describeLast(session)}`;
  const text = `Executor \`${environment}\`: ${reason}. What the call did is unknown; the command may still be running.${state}`;
  const known = session === undefined ? {} : { sessionId: session.id, lastOffset: session.lastOffset };
  const structured = { outcome: { kind: "lost" as const, reason, lastSeq }, environment, ...known };
  return { status: "lost", isError: true, text: withNotices(text, response.notices), structured };
}

function respondToExec(response: Response, text: string, structured: unknown): ToolCallResult {
  const { owner, sessions } = response;
  const checked = structured === undefined ? undefined : checkResult(structured);
  if (checked === undefined || typeof checked === "string") {
    trackText(response, text);
    const translated = translateResult(text, true, owner, sessions);
    if (checked === undefined) return answered(response, translated, undefined, []);
    return answered(response, translated, undefined, [leaveOut(response, checked)]);
  }
  const session = trackResult(response, checked);
  const translated = translateResult(text, checked.omitted.length > 0, owner, sessions);
  return answered(response, translated, translateStructured(response, checked, session), []);
}

function translateStructured(
  { owner, sessions }: Response,
  result: UnifiedExecResult,
  session: Session | undefined,
): UnifiedExecResult {
  const notices = result.notices?.map((notice) => translateSentence(notice, owner, sessions, true));
  return {
    ...result,
    ...(result.processId === undefined || session === undefined ? {} : { processId: session.id }),
    ...defined({ notices }),
  };
}

function answered(
  response: Response,
  text: string,
  structured: UnifiedExecResult | Record<string, unknown> | undefined,
  more: readonly string[],
): ToolCallResult {
  const notices = [...response.notices, ...more];
  const own = notices.length === 0 || structured === undefined ? structured : addNotices(structured, notices);
  const status = response.interruption !== undefined ? "interrupted" : "success";
  return { status, isError: false, text: withNotices(bounded(response, text), notices), structured: own };
}

const addNotices = (structured: UnifiedExecResult | Record<string, unknown>, notices: readonly string[]) => ({
  ...structured,
  notices: [...notices, ...(Array.isArray(structured.notices) ? structured.notices : [])],
});

/** At the beginning, because the executor's text ends with the output of the program, which must not be changed. */
const withNotices = (text: string, notices: readonly string[]): string =>
  [...notices.map((notice) => `Note: ${notice}`), text].join("\n");

function bounded(response: Response, text: string): string {
  const cut = cutToBytes(text, response.resultTextBytes);
  if (cut === text) return text;
  const size = `${Buffer.byteLength(text)} bytes of text (limit ${response.resultTextBytes} bytes)`;
  response.problems.note("invalid_result", `\`${response.toolName}\` answered ${size}; cut`);
  return `${cut}\n[cut: the executor returned ${size}]`;
}

/** Updates the session from a checked result. */
function trackResult({ sessions, owner, session, client }: Response, result: UnifiedExecResult): Session | undefined {
  const own = result.processId === undefined ? session : sessions.adopt(owner, result.processId, client);
  if (own !== undefined && result.outcome.kind !== "running") own.state = { kind: "ended", outcome: result.outcome };
  return own;
}

/** The same for an executor that returns only text: its header contains the session id. */
function trackText({ sessions, owner, session, client }: Response, text: string): void {
  const id = runningSession(text);
  if (id !== undefined) sessions.adopt(owner, id, client);
  else if (session !== undefined) session.state = { kind: "ended", outcome: undefined };
}
