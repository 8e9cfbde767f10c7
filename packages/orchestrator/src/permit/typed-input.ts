import { pause } from "@codex/clock";
import { SESSION_TOOL_RESULTS } from "@codex/executor-protocol";
import { analyzeTypedLines, changesKeys, evaluateRequirement, TypedLines } from "@codex/policy";
import type { ApprovalRequest } from "../approvals/approver.js";
import { copyFrozen, digestQuestion } from "../approvals/binding.js";
import type { Session } from "../executors/sessions.js";
import type { ResolvedExec } from "../resolve/exec-command.js";
import type { Selected } from "../resolve/select-executor.js";
import { closedBeforeSending, interrupted, type RefusedCall, refuse } from "../result.js";
import { type Granted, NOT_WHAT_WAS_GRANTED, type PermitContext } from "./permit.js";

/** Interactive shells by their session. */
export type TypedShells = WeakMap<Session, TypedShell>;

/** A shell, as it was started. */
export interface TypedShell {
  readonly selected: Selected;
  readonly resolved: ResolvedExec;
  readonly permit: Granted;
  readonly lines: TypedLines;
  /** Unique to this shell, once there was a question. */
  identity?: string;
  /** Settles when the previous input was judged: lines are assembled in order. */
  judged: Promise<unknown>;
}

/** Input for a shell. `isEnd`: its stdin is closed afterwards; `signal` withdraws the approval request. */
export interface TypedInput {
  readonly text: string;
  readonly isEnd: boolean;
  readonly signal: AbortSignal | undefined;
  /** The session, by the model's id: a decision applies to this shell. */
  readonly session: number;
}

/** An interactive shell; undefined for any other command. */
export function createTypedShell(selected: Selected, resolved: ResolvedExec, permit: Granted): TypedShell | undefined {
  if (permit.command.literals.readsScript !== true) return undefined;
  return { selected, resolved, permit, lines: new TypedLines(resolved.request.tty), judged: Promise.resolve() };
}

/**
 * Judges the lines completed by this input as a shell script: forbidden commands are refused, dangerous ones need approval.
 * Undefined if the input may be written.
 */
export function refuseInput(
  shell: TypedShell,
  input: TypedInput,
  context: PermitContext,
): Promise<RefusedCall | undefined> {
  const judged = shell.judged.then(() => judge(shell, input, context));
  shell.judged = judged.catch(() => undefined);
  return judged;
}

async function judge(
  shell: TypedShell,
  { text, isEnd, signal, session }: TypedInput,
  context: PermitContext,
): Promise<RefusedCall | undefined> {
  const { lines, before, unclear, keep: keepLines } = shell.lines.add(text, isEnd);
  // Input that is only judged is not written.
  const keep = context.isOnlyJudged ? () => {} : keepLines;
  // ^D may have left text in the line.
  if (lines.trim() === "" && unclear === undefined && !before.includes("\x04")) {
    keep();
    return undefined;
  }
  const { request } = shell.resolved;
  const rules = context.rules.rulesIn(request.cwd);
  const read = shell.lines.read(lines, before);
  const earlier = shell.lines.read(before) ?? [before];
  const isUnclear = unclear ?? (read === undefined ? "keys move or recall more than is followed" : undefined);
  const command = await analyzeTypedLines(read ?? [lines], earlier, isUnclear, context.shellParser);
  const needed = evaluateRequirement(command, {
    approvalPolicy: context.policy.approvalPolicy,
    sandboxPermissions: "use_default",
    unrestricted: context.policy.sandbox.unrestricted,
    rules,
    os: shell.selected.executor.host?.os,
  });
  context.trail.judged(needed, () => command.literals.commands.flatMap((words) => rules.match(words)));
  if (needed.kind === "forbidden") return refuseTyped("forbidden", needed.reason, shell, lines);
  if (needed.kind === "needsApproval") {
    const directory = await findDirectory(shell.selected, session, context);
    const question = createQuestion(shell, { lines, directory }, command.literals.commands, needed, context);
    const { closing } = context;
    const given = signal === undefined ? closing : AbortSignal.any([signal, closing]);
    // A decision for the session is about this shell in this directory, and without a known one about nothing else.
    shell.identity ??= context.newId();
    const canonical = [directory === undefined ? question.id : shell.identity, ...question.command];
    const terms = { canonical, digest: digestQuestion(question, session), signal: given };
    const decision = await context.decide(question, terms);
    context.trail.decided(question.id, decision);
    if (decision.kind === "interrupted") return closing.aborted ? closedBeforeSending() : interrupted();
    if (decision.kind === "cancelled")
      return refuseTyped("cancelled", `the ${decision.by} ended the turn`, shell, lines);
    if (decision.kind === "changed") return refuseTyped("changed", NOT_WHAT_WAS_GRANTED, shell, lines);
    if (decision.kind === "denied") {
      return refuseTyped("denied", `${decision.reason} (asked because ${needed.reason})`, shell, lines);
    }
  }
  keep();
  if (changesKeys(command) && !context.isOnlyJudged) shell.lines.distrustKeys();
  return undefined;
}

/** Longest wait for an executor to say where a shell is, in milliseconds. */
const DIRECTORY_MS = 2000;

/** Waits before it is asked again, in milliseconds: a shell that has just printed something waits for input a little later. */
const AGAIN_MS = [20, 60, 200];

/** Where the shell is that waits for this input; undefined while it is busy, or where the executor does not know. */
async function findDirectory(
  { executor, session }: Selected,
  id: number,
  { clock, closing }: PermitContext,
): Promise<string | undefined> {
  const processId = session?.processId ?? id;
  const toolName = "list_sessions";
  if (!executor.tools.has(toolName)) return undefined;
  for (const ms of [...AGAIN_MS, undefined]) {
    const { reply } = executor.call({ toolName, arguments: {}, deadlineMs: DIRECTORY_MS, sessionScope: "executor" });
    const response = await reply;
    if (response.kind !== "answer" || response.message.outcome.status !== "success") return undefined;
    const list = SESSION_TOOL_RESULTS.list_sessions.safeParse(response.message.outcome.structured);
    const directory = list.data?.sessions.find(({ sessionId }) => sessionId === processId)?.inputDirectory;
    if (directory !== undefined || ms === undefined) return directory;
    await pause(clock, ms, closing).catch(() => undefined);
  }
  return undefined;
}

function createQuestion(
  { selected, resolved, permit }: TypedShell,
  { lines, directory }: { lines: string; directory: string | undefined },
  plainCommands: ApprovalRequest["plainCommands"],
  { reason, cause }: Pick<ApprovalRequest, "reason" | "cause">,
  { newId }: PermitContext,
): ApprovalRequest {
  const { request } = resolved;
  const [shell = "sh"] = request.command;
  return copyFrozen({
    id: newId(),
    toolName: "write_stdin",
    environment: selected.executor.name,
    command: [shell, "-c", lines],
    plainCommands,
    cwd: directory ?? request.cwd,
    tty: request.tty,
    reason: `it would be typed into a running shell${directory === undefined ? ", which started in this directory and may be elsewhere by now" : ""}: ${reason}`,
    cause,
    justification: null,
    sandboxPermissions: permit.bypassSandbox ? "require_escalated" : request.sandboxPermissions,
    additionalPermissions: permit.bypassSandbox ? null : request.additionalPermissions,
    sandbox: permit.sandbox ?? null,
    afterDenial: null,
    proposedAmendment: null,
    availableDecisions:
      directory === undefined ? ["accept", "decline", "cancel"] : ["accept", "accept_for_session", "decline", "cancel"],
  });
}

function refuseTyped(
  code: keyof typeof REFUSALS,
  reason: string,
  { resolved }: TypedShell,
  lines: string,
): RefusedCall {
  const { cwd, command } = resolved.request;
  const [shell = "sh"] = command;
  const status = code === "changed" ? "error" : code;
  return refuse(status, `${REFUSALS[code]}: ${reason}. Nothing was written.`, {
    code,
    reason,
    command: [shell, "-c", lines],
    cwd,
  });
}

const REFUSALS = {
  forbidden: "The input is forbidden",
  denied: "The input was not approved",
  cancelled: "The input was cancelled",
  changed: "The input is not what was approved",
} as const;
