import { type UnifiedExecResult, unifiedExecResultSchema } from "@codex/executor-protocol";
import { safeParse } from "zod/mini";
import { type CallReply, describeReply } from "./executors/executor.js";
import type { ProblemLog } from "./executors/problems.js";
import type { Session, SessionOwner, SessionTable } from "./executors/sessions.js";
import { fail, type LostCall, refuse, type ToolCallResult } from "./result.js";
import { cutToBytes } from "./text.js";

/** A reply and what is needed to put it into the model's terms. */
export interface Response {
  reply: CallReply;
  toolName: string;
  /** The tool has a unified-exec contract: its result is checked against it. */
  unifiedExec: boolean;
  environment: string;
  owner: SessionOwner;
  sessions: SessionTable;
  problems: ProblemLog;
  /** What was changed in the request, one sentence each. */
  notices: readonly string[];
  /** Set when the caller's signal ended the wait: what that means if no answer comes. */
  interruption: string | undefined;
  /** The session of the call as far as it is known without the answer. */
  session: Session | undefined;
  /** Bytes. */
  resultTextBytes: number;
}

/** The result of a call that was sent. Never throws, whatever the executor answered. */
export function respond(response: Response): ToolCallResult {
  const { reply } = response;
  if (reply.kind === "answer") return respondToAnswer(response, reply.message);
  if (reply.kind === "refused") return toolFailed(response, reply.message);
  if (reply.kind === "unsent" && !reply.ended)
    return fail("unsendable", `\`${response.toolName}\`: ${describeReply(reply)}`);
  if (reply.kind === "unsent") return offline(response.environment, reply.reason);
  const gaveUp = reply.kind === "timeout" ? response.interruption : undefined;
  return lost(response, gaveUp ?? describeReply(reply));
}

/** Nothing was sent: the executor was gone already. */
export function offline(environment: string, reason: string): ToolCallResult {
  return fail("executor_offline", `Executor \`${environment}\` is offline: ${reason}. Nothing was run.`);
}

/** Nothing was sent: the session's executor went away. Whether the session still runs is unknown, and said so. */
export function lostSession(session: Session, reason: string): LostCall {
  const { name: environment } = session.owner;
  const text = `Executor \`${environment}\` is offline: ${reason}. Session ${session.id} was running there when it was last seen; whether it still runs is unknown.`;
  const outcome = { kind: "lost" as const, reason, lastSeq: session.lastSeq };
  return { status: "lost", isError: true, text, structured: { outcome, environment, sessionId: session.id } };
}

type Answer = Extract<CallReply, { kind: "answer" }>["message"];

function respondToAnswer(response: Response, message: Answer): ToolCallResult {
  const { toolName, problems } = response;
  if (message.toolName !== toolName) {
    problems.note("wrong_answer", `answer for tool \`${message.toolName}\` to a call of \`${toolName}\``);
  }
  const { outcome } = message;
  if (outcome.status === "error") return toolFailed(response, outcome.message);
  const text = outcome.content.map((item) => item.text).join("\n");
  if (response.unifiedExec) return respondToExec(response, text, outcome.structured);
  return answered(response, translateOther(response, text), outcome.structured, []);
}

function toolFailed(response: Response, message: string): ToolCallResult {
  const reason = bounded(response, translateError(response, message));
  const text = withNotices(reason, response.notices);
  return refuse("error", text, { code: "tool_failed", reason });
}

function lost(response: Response, reason: string): LostCall {
  const { environment, session } = response;
  const lastSeq = session?.lastSeq ?? 0;
  const state = session === undefined ? "" : ` Session ${session.id} was running when it was last seen.`;
  const text = `Executor \`${environment}\`: ${reason}. What the call did is unknown; the command may still be running.${state}`;
  const known = session === undefined ? {} : { sessionId: session.id };
  const structured = { outcome: { kind: "lost" as const, reason, lastSeq }, environment, ...known };
  return { status: "lost", isError: true, text: withNotices(text, response.notices), structured };
}

function respondToExec(response: Response, text: string, structured: unknown): ToolCallResult {
  const checked = structured === undefined ? undefined : checkResult(structured);
  if (typeof checked === "string") {
    response.problems.note("invalid_result", checked);
    const notice = `the executor's structured result was left out: ${checked}`;
    return answered(response, trackText(response, text), undefined, [notice]);
  }
  if (checked === undefined) return answered(response, trackText(response, text), undefined, []);
  const session = trackResult(response, checked);
  if (session === undefined || checked.processId === undefined) return answered(response, text, checked, []);
  return answered(response, renameSession(text, session), { ...checked, processId: session.id }, []);
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

/** In front, because the executor's text ends with output that is nobody's to change. */
const withNotices = (text: string, notices: readonly string[]): string =>
  [...notices.map((notice) => `Note: ${notice}`), text].join("\n");

function bounded(response: Response, text: string): string {
  const cut = cutToBytes(text, response.resultTextBytes);
  if (cut === text) return text;
  const size = `${Buffer.byteLength(text)} bytes of text (limit ${response.resultTextBytes} bytes)`;
  response.problems.note("invalid_result", `\`${response.toolName}\` answered ${size}; cut`);
  return `${cut}\n[cut: the executor answered ${size}]`;
}

/** The checked result, or the contradiction in it. */
function checkResult(structured: unknown): UnifiedExecResult | string {
  const parsed = safeParse(unifiedExecResultSchema, structured);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.map(String).join(".") ?? "";
    return `field \`structured.${path}\` does not fit`;
  }
  const { outcome, exitCode, processId, range, omitted } = parsed.data;
  const ended = outcome.kind === "exited" || outcome.kind === "signaled";
  if (exitCode !== undefined && !ended) return `exitCode ${exitCode} with outcome \`${outcome.kind}\``;
  if (outcome.kind === "exited" && exitCode !== undefined && exitCode !== outcome.code) {
    return `exitCode ${exitCode} with outcome \`exited\` and code ${outcome.code}`;
  }
  if (processId === undefined && outcome.kind === "running") return "outcome `running` without a processId";
  const ranges = [range, ...omitted];
  if (ranges.some(({ from, to }) => from > to)) return "a byte range that ends before it begins";
  return parsed.data;
}

/** What a checked result says of its session. */
function trackResult(response: Response, result: UnifiedExecResult): Session | undefined {
  const { sessions, owner, session } = response;
  if (result.processId === undefined) {
    if (session !== undefined) session.state = { kind: "ended", outcome: result.outcome };
    return session;
  }
  const own = sessions.adopt(owner, result.processId);
  if (result.outcome.kind !== "running") own.state = { kind: "ended", outcome: result.outcome };
  return own;
}

/** The same for an executor that gives only text: its header names the session. */
function trackText(response: Response, text: string): string {
  const id = HEADER_SESSION.exec(headerOf(text))?.[2];
  if (id === undefined) {
    if (response.session !== undefined) response.session.state = { kind: "ended", outcome: undefined };
    return text;
  }
  return renameSession(text, response.sessions.adopt(response.owner, Number(id)));
}

/** Gives the session of the header its id for the model; output below the header stays as it is. */
function renameSession(text: string, session: Session): string {
  if (session.id === session.processId) return text;
  const header = headerOf(text);
  return header.replace(HEADER_SESSION, `$1${session.id}`) + text.slice(header.length);
}

/** The lines in front of the output. */
function headerOf(text: string): string {
  const end = /^Output:$/m.exec(text)?.index;
  return end === undefined ? text : text.slice(0, end);
}

const HEADER_SESSION = /^(Process running with session ID )(\d{1,15})$/m;

/** Errors name a session in a sentence. */
function translateError({ sessions, owner }: Response, message: string): string {
  return message.replace(/(\bsession(?: id)? [`'"]?)(\d{1,15})(?!\d)/gi, (all, before: string, id: string) => {
    const session = sessions.find(owner, Number(id));
    return session === undefined ? all : `${before}${session.id}`;
  });
}

/** Text of another tool is left as it is; where it may speak of a session by the executor's id, that is explained. */
function translateOther(response: Response, text: string): string {
  const named = response.sessions
    .renamed(response.owner)
    .filter(({ processId }) => new RegExp(`(?<!\\d)${processId}(?!\\d)`).test(text))
    .map(
      ({ id, processId }) =>
        `Note: session ${processId} of executor \`${response.environment}\` is session ${id} here.`,
    );
  return [text, ...named].join("\n");
}
