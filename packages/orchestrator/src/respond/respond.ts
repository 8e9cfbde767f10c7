import { type CallReply, describeReply, type ProblemLog, type SessionOwner } from "@codex/executor-client";
import {
  presentResult,
  renderFailure,
  type SessionList,
  type StandardToolResults,
  type UnifiedExecResult,
} from "@codex/executor-protocol";
import { cutToBytes } from "@codex/telemetry";
import { defined } from "@codex/values";
import type { Session, SessionTable } from "../executors/sessions.js";
import { fail, interrupted, type LostCall, refuse, type ToolCallResult } from "../result.js";
import { checkResult, findResultProblem, isSessionTool, type SessionToolName } from "./check-result.js";
import { explainSessions, readPlainResult, renameRunning } from "./plain-text.js";

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
type Failure = Extract<Answer["outcome"], { status: "error" }>;

function respondToAnswer(response: Response, message: Answer): ToolCallResult {
  const { toolName, problems } = response;
  if (message.toolName !== toolName) {
    problems.note("wrong_answer", `response for tool \`${message.toolName}\` to a call of \`${toolName}\``);
  }
  const { outcome } = message;
  if (outcome.status === "error") return respondToFailure(response, outcome);
  const { content, structured } = outcome;
  // The results of the standard tools are rendered here; from an executor that cannot leave that to others, they have text.
  const text = content.length === 0 ? undefined : content.map((item) => item.text).join("\n");
  if (response.unifiedExec) return respondToExec(response, text, structured);
  const problem = findResultProblem(toolName, structured);
  const left = problem === undefined ? [] : [leaveOut(response, problem)];
  if (text === undefined && problem === undefined && isSessionTool(toolName) && structured !== undefined) {
    return answered(response, presentSessionResult(response, toolName, structured), []);
  }
  const explained = explainSessions(text ?? "", response.sessions.renamed(response.owner));
  return answered(response, { text: explained, structured: problem === undefined ? structured : undefined }, left);
}

function respondToFailure(response: Response, failure: Failure): ToolCallResult {
  if (failure.sessionId !== undefined) return toolFailed(response, renderFailure(withOwnId(response, failure)));
  return toolFailed(response, explainSessions(failure.message, response.sessions.renamed(response.owner)));
}

/** Ids of sessions that are not known here are left as they are. */
function withOwnId<About extends { sessionId?: number | undefined }>(
  { owner, sessions }: Response,
  about: About,
): About {
  if (about.sessionId === undefined) return about;
  return { ...about, sessionId: sessions.find(owner, about.sessionId)?.id ?? about.sessionId };
}

/** A result that was checked. */
function presentSessionResult(response: Response, toolName: SessionToolName, structured: Record<string, unknown>) {
  const { sessions } = structured as Partial<SessionList>;
  const own = sessions === undefined ? {} : { sessions: sessions.map((session) => withOwnId(response, session)) };
  return presentResult(toolName, {
    ...withOwnId(response, structured),
    ...own,
  } as StandardToolResults[SessionToolName]);
}

/** Notes a structured result that is left out, and returns the sentence about it. */
function leaveOut({ problems }: Response, problem: string): string {
  problems.note("invalid_result", problem);
  return `the executor's structured result was left out: ${problem}`;
}

function toolFailed(response: Response, message: string): ToolCallResult {
  const reason = bounded(response, message);
  return refuse("error", withNotices(reason, response.notices), { code: "tool_failed", reason });
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

function respondToExec(response: Response, text: string | undefined, structured: unknown): ToolCallResult {
  const checked = structured === undefined ? undefined : checkResult(structured);
  if (checked === undefined || typeof checked === "string") {
    const left = checked === undefined ? [] : [leaveOut(response, checked)];
    if (text === undefined) return answered(response, { text: "", structured: undefined }, left);
    const { session } = response;
    // Its text alone says whether the session still runs.
    if (session !== undefined && readPlainResult(text).runningSession === undefined) {
      session.state = { kind: "ended", outcome: undefined };
    }
    return answered(response, { ...adoptPlain(response, text), structured: undefined }, left);
  }
  const session = trackResult(response, checked);
  const processId = session === undefined || checked.processId === undefined ? {} : { processId: session.id };
  const own = { ...checked, ...processId };
  if (text !== undefined) {
    const { runningSession, output } = readPlainResult(text);
    const isNamed = session !== undefined && runningSession === session.processId;
    return answered(response, { text: isNamed ? renameRunning(text, session.id) : text, output, structured: own }, []);
  }
  const { shown } = checked;
  const sessionId = shown?.sessionId === undefined ? undefined : adoptShown(response, shown.sessionId).id;
  const presented = presentResult("exec_command", { ...own, shown: { ...shown, ...defined({ sessionId }) } });
  return answered(response, presented, []);
}

/** A session that the text names: new ones are registered, since their output can be read also when they have ended. */
function adoptShown({ sessions, owner }: Response, processId: number): Session {
  const known = sessions.find(owner, processId);
  if (known !== undefined) return known;
  const session = sessions.adopt(owner, processId);
  session.state = { kind: "ended", outcome: undefined };
  return session;
}

interface Answered {
  text: string;
  structured: UnifiedExecResult | Record<string, unknown> | undefined;
  output?: string | undefined;
}

function answered(response: Response, { text, structured, output }: Answered, more: readonly string[]): ToolCallResult {
  const notices = [...response.notices, ...more];
  const own = notices.length === 0 || structured === undefined ? structured : addNotices(structured, notices);
  const status = response.interruption !== undefined ? "interrupted" : "success";
  return {
    status,
    isError: false,
    text: withNotices(bounded(response, text), notices),
    structured: own,
    ...(output === undefined ? {} : { output: cutToBytes(output, response.resultTextBytes) }),
  };
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

/** The text of an executor that renders it itself, with the id that its running session has here. */
function adoptPlain({ sessions, owner, client }: Response, text: string) {
  const { runningSession, output } = readPlainResult(text);
  if (runningSession === undefined) return { text, output };
  const { id } = sessions.adopt(owner, runningSession, client);
  return { text: renameRunning(text, id), output };
}
