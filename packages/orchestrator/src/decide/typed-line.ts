import { pause } from "@codex/clock";
import { SESSION_TOOL_RESULTS } from "@codex/executor-protocol";
import { analyzeTypedLines, changesKeys, evaluateRequirement, type Requirement, TypedLines } from "@codex/policy";
import type { ApprovalRequest } from "../approvals/approver.js";
import { copyFrozen, digestQuestion } from "../approvals/binding.js";
import type { Session } from "../executors/sessions.js";
import type { ResolvedExec } from "../resolve/exec-command.js";
import type { Selected } from "../resolve/select-executor.js";
import type { CommandTerms } from "./command.js";
import { type Evaluation, forbidden } from "./decision.js";
import type { DecidePorts, Ruling } from "./ports.js";
import { sessionKey } from "./session-key.js";

/** Interactive shells by their session. */
export type TypedShells = WeakMap<Session, TypedShell>;

/** A shell, as it was started. */
export class TypedShell {
  readonly selected: Selected;
  readonly resolved: ResolvedExec;
  readonly terms: CommandTerms;
  readonly lines: TypedLines;
  #identity: string | undefined;
  /** Settles when the previous input was decided about: lines are assembled in order. */
  #previous: Promise<unknown> = Promise.resolve();

  private constructor(selected: Selected, resolved: ResolvedExec, terms: CommandTerms) {
    this.selected = selected;
    this.resolved = resolved;
    this.terms = terms;
    this.lines = new TypedLines(resolved.request.tty);
  }

  /** An interactive shell; undefined for any other command. */
  static of(selected: Selected, resolved: ResolvedExec, terms: CommandTerms): TypedShell | undefined {
    return terms.command.literals.readsScript === true ? new TypedShell(selected, resolved, terms) : undefined;
  }

  /** Unique to this shell, once there was a question. */
  identify(newId: () => string): string {
    this.#identity ??= newId();
    return this.#identity;
  }

  /** Runs it when what was given before has settled. */
  inOrder<T>(run: () => Promise<T>): Promise<T> {
    const result = this.#previous.then(run);
    this.#previous = result.catch(() => undefined);
    return result;
  }

  /** The argv that would run these lines as a script, for questions and refusals. */
  commandOf(lines: string): [string, "-c", string] {
    const [shell = "sh"] = this.resolved.request.command;
    return [shell, "-c", lines];
  }
}

/** Input for a shell. */
export interface TypedLineDeed {
  readonly shell: TypedShell;
  readonly text: string;
  /** Its stdin is closed afterwards. */
  readonly isEnd: boolean;
  /** The session, by the model's id: a decision applies to this shell. */
  readonly session: number;
}

/** The lines that an input completes, and what the policy says of them. */
export interface EvaluatedLine {
  /** As a script for the shell. */
  readonly command: readonly string[];
  readonly evaluation: Evaluation<undefined>;
  /** To be called when the input will be written. */
  readonly keep: () => void;
}

/** Evaluates the lines completed by this input as a shell script: forbidden commands are refused, dangerous ones need approval. */
export async function evaluateTypedLine(
  { shell, text, isEnd, session }: TypedLineDeed,
  { policy, rules: book }: Ruling,
  ports: DecidePorts,
): Promise<EvaluatedLine> {
  const { lines, before, unclear, keep } = shell.lines.add(text, isEnd);
  // ^D may have left text in the line.
  if (lines.trim() === "" && unclear === undefined && !before.includes("\x04")) {
    const evaluation = { requirement: undefined, outcome: { kind: "allowed", terms: undefined } } as const;
    return { command: shell.commandOf(lines), evaluation, keep };
  }
  const { request } = shell.resolved;
  const rules = book.rulesIn(request.cwd);
  const read = shell.lines.read(lines, before);
  const earlier = shell.lines.read(before) ?? [before];
  const isHeld = shell.terms.execGate?.required === true;
  const isUnclear = unclear ?? (read === undefined ? "keys move or recall more than is followed" : undefined);
  const command = await analyzeTypedLines(read ?? [lines], earlier, isUnclear, ports.shellParser);
  const requirement = evaluateRequirement(command, {
    approvalPolicy: policy.approvalPolicy,
    sandboxPermissions: "use_default",
    unrestricted: policy.sandbox.unrestricted,
    rules,
    isHeld,
    os: shell.selected.executor.host?.os,
  });
  const { commands } = command.literals;
  const evaluated = { requirement, matches: () => commands.flatMap((words) => rules.match(words)) };
  const needed = isHeld && isAskedAtStart(shell, command.literals.commands) ? toAllowed(requirement) : requirement;
  const outcome = await evaluateRequired(needed, async ({ reason, cause }) => {
    const directory = await findDirectory(shell.selected, session, ports);
    const shown = createRequest(shell, { lines, directory }, commands, { reason, cause }, ports.newId());
    // A decision for the session is about this shell in this directory, and without a known one about nothing else.
    const owner = directory === undefined ? shown.id : shell.identify(ports.newId);
    return {
      request: shown,
      keys: [sessionKey(shown, [owner, ...shown.command])],
      digest: digestQuestion(shown, session),
    };
  });
  return {
    command: shell.commandOf(lines),
    evaluation: { ...evaluated, outcome },
    keep() {
      keep();
      if (changesKeys(command)) shell.lines.distrustKeys();
    },
  };
}

/** What was approved with the shell's command is not asked about where it starts: what is typed is, whatever was approved before. */
function isAskedAtStart({ terms: { execGate } }: TypedShell, commands: readonly (readonly string[])[]): boolean {
  const approved = new Set(execGate?.approved.map((words) => JSON.stringify(words)));
  return !commands.some((words) => approved.has(JSON.stringify(words)));
}

const toAllowed = (requirement: Requirement): Requirement =>
  requirement.kind === "needsApproval" ? { kind: "skip", bypassSandbox: false } : requirement;

async function evaluateRequired(
  requirement: Requirement,
  createQuestion: (
    needed: Extract<Requirement, { kind: "needsApproval" }>,
  ) => Promise<Extract<Evaluation<undefined>["outcome"], { kind: "ask" }>["question"]>,
): Promise<Evaluation<undefined>["outcome"]> {
  switch (requirement.kind) {
    case "skip":
      return { kind: "allowed", terms: undefined };
    case "forbidden":
      return forbidden(requirement.reason);
    case "needsApproval": {
      const question = await createQuestion(requirement);
      return { kind: "ask", terms: undefined, reason: requirement.reason, question };
    }
  }
}

/** Longest wait for an executor to say where a shell is, in milliseconds. */
const DIRECTORY_MS = 2000;

/** Waits before it is asked again, in milliseconds: a shell that has just printed something waits for input a little later. */
const AGAIN_MS = [20, 60, 200];

/** Where the shell is that waits for this input; undefined while it is busy, or where the executor does not know. */
async function findDirectory(
  { executor, session }: Selected,
  id: number,
  { clock, closing }: DecidePorts,
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

function createRequest(
  shell: TypedShell,
  { lines, directory }: { lines: string; directory: string | undefined },
  plainCommands: ApprovalRequest["plainCommands"],
  { reason, cause }: Pick<ApprovalRequest, "reason" | "cause">,
  id: string,
): ApprovalRequest {
  const { selected, resolved, terms } = shell;
  const { request } = resolved;
  return copyFrozen({
    id,
    toolName: "write_stdin",
    environment: selected.executor.name,
    command: shell.commandOf(lines),
    plainCommands,
    cwd: directory ?? request.cwd,
    tty: request.tty,
    reason: `it would be typed into a running shell${directory === undefined ? ", which started in this directory and may be elsewhere by now" : ""}: ${reason}`,
    cause,
    justification: null,
    sandboxPermissions: terms.bypassSandbox ? "require_escalated" : request.sandboxPermissions,
    additionalPermissions: terms.bypassSandbox ? null : request.additionalPermissions,
    sandbox: terms.sandbox ?? null,
    afterDenial: null,
    proposedAmendment: null,
    availableDecisions:
      directory === undefined ? ["accept", "decline", "cancel"] : ["accept", "accept_for_session", "decline", "cancel"],
  });
}
