import {
  CommandFollower,
  findProgramTools,
  type OnOutput,
  type RunOutcome,
  type SplitOutput,
} from "@codex/executor-client/programs";
import type { ExecCommandRequest, UnifiedExecResult } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { copyFrozen } from "../approvals/binding.js";
import { ENVIRONMENT_ID } from "../catalog/catalog.js";
import { toOrchestratorError } from "../errors.js";
import { type Granted, obtainPermit } from "../permit/permit.js";
import { createTypedShell, refuseInput } from "../permit/typed-input.js";
import type { Started } from "../programs/judged-command.js";
import type { CommandStart, StartCommandRequest } from "../programs/started-command.js";
import { selectEnvironment } from "../resolve/select-environment.js";
import type { Selected } from "../resolve/select-executor.js";
import { type ResolvedProgram, resolveStartCommand } from "../resolve/start-command.js";
import { getTurn } from "../resolve/turn.js";
import { fail, interrupted, type RefusedCall, type ToolCallResult } from "../result.js";
import type { CallToolOptions } from "./call-options.js";
import { beginTrail, failed, type HandlerContext, invalid, type SharedContext } from "./call-tool.js";
import { findChange } from "./find-change.js";

/**
 * Options of starting a program: those of a call that do not concern results and repeats. `grant` is for what `judge` returned for `exec_command` with the
 * same command, directory and terminal.
 */
export type StartCommandOptions = Pick<
  CallToolOptions,
  "signal" | "onOutput" | "cwd" | "workspaceRoots" | "environments" | "onDecision" | "approver" | "client" | "grant"
>;

/** Judges a program as a call of `exec_command`, and starts it. Never rejects. */
export async function startCommand(
  request: StartCommandRequest,
  options: StartCommandOptions,
  output: SplitOutput,
  context: SharedContext,
): Promise<Started> {
  const push: OnOutput = (piece) => output.push(piece);
  const { trail, onOutput = push } = beginTrail(TOOL, { ...options, onOutput: push }, context);
  const watch = context.telemetry.begin(TOOL);
  const progress = { isSent: false };
  const own = { ...context, trail, progress, trace: watch.trace, isOnlyJudged: false };
  const permitted = await permitProgram(request, options, own).catch((error: unknown) => failed(error, false));
  if ("isError" in permitted) {
    watch.end(permitted);
    trail.ended(permitted);
    return { start: { kind: "refused", result: permitted } };
  }
  const started = await follow(permitted, options, onOutput);
  watch.end(toResult(started.start));
  return started;
}

/** A program that may run, and how it is sent. */
interface Permitted {
  selected: Selected;
  program: ResolvedProgram;
  permit: Granted;
  wire: ExecCommandRequest;
  tools: { exec: string; stdin: string };
  environment: string;
  notices: readonly string[];
  context: HandlerContext & SharedContext;
}

async function permitProgram(
  request: StartCommandRequest,
  options: StartCommandOptions,
  context: Omit<HandlerContext, "decide" | "policy" | "rules"> & SharedContext,
): Promise<Permitted | RefusedCall> {
  const { environments: selection, signal, client } = options;
  if (signal?.aborted) return interrupted();
  const named = request.environment === undefined ? {} : { [ENVIRONMENT_ID]: request.environment };
  const placed = await selectEnvironment(TOOL, named, { ...context, selection, client }, signal);
  if (placed.kind === "result") return refusalOf(placed.result);
  const { selected, notice } = placed;
  const { executor } = selected;
  const environment = context.catalog.environmentOf(executor.name);
  const { approver: usual, ...ruling } = context.rulingOf(environment);
  const approver = options.approver ?? usual;
  const own: HandlerContext & SharedContext = {
    ...context,
    ...ruling,
    decide: (question, terms) => context.approvals.decide(question, { ...terms, client }, approver, options.grant),
  };
  const at = (refused: RefusedCall): RefusedCall => ({ ...refused, environment });
  const { cwd: turnCwd, workspaceRoots } = getTurn(options, environment);
  const resolved = resolveStartCommand(request, {
    config: context.config,
    host: executor.host,
    turnCwd,
    workspaceRoots,
  });
  if (resolved.kind === "rejected") return at(invalid("startCommand", resolved));
  const { judged } = resolved.value;
  context.trail.command(executor.name, judged.request);
  const tools = findProgramTools(executor);
  if (tools === undefined || executor.host === undefined) {
    return at(
      fail("unsendable", `executor \`${executor.name}\` does not offer unified exec with live output. ${NOT_RUN}`),
    );
  }
  if (client !== undefined && !executor.can("clients")) {
    return at(
      fail("unsendable", `executor \`${executor.name}\` does not separate the sessions of clients. ${NOT_RUN}`),
    );
  }
  const excess = context.sessions.findExcess();
  if (excess !== undefined) return at(fail("too_many_calls", `${excess} ${NOT_RUN}`));
  const permit = await obtainPermit(selected, judged, signal, own);
  if (permit.kind === "result") return at(permit.result);
  const wire = toWire(resolved.value, permit);
  const sent = { ...wire, command: judged.request.command };
  const refused = findChange(executor, judged, permit.approval, sent) ?? (await context.trail.sending(permit.sandbox));
  if (refused !== undefined) return at(refused);
  if (signal?.aborted) return at(interrupted());
  const notices = [...(notice === undefined ? [] : [notice]), ...permit.notices];
  return { selected, program: resolved.value, permit, wire, tools, environment, notices, context: own };
}

const toWire = ({ judged, argv }: ResolvedProgram, permit: Granted): ExecCommandRequest =>
  copyFrozen({
    ...judged.request,
    command: [...argv],
    execApprovalRequirement: {
      skip: {
        bypassSandbox: permit.bypassSandbox,
        proposedExecPolicyAmendment: permit.proposedAmendment === null ? null : [...permit.proposedAmendment],
      },
    },
    ...("sandbox" in permit ? { sandbox: permit.sandbox } : {}),
    ...(permit.approval === undefined ? {} : { approvalId: permit.approval.id }),
  });

/** The first information about a started program. */
interface Sighting {
  processId: number | undefined;
}

async function follow(permitted: Permitted, options: StartCommandOptions, onOutput: OnOutput): Promise<Started> {
  const { selected, program, permit, wire, tools, environment, notices, context } = permitted;
  const { executor } = selected;
  const { owner } = executor;
  const { client, signal } = options;
  context.progress.isSent = true;
  let last: UnifiedExecResult | undefined;
  let tell = (_first: Sighting) => {};
  const first = new Promise<Sighting>((resolve) => {
    tell = resolve;
  });
  const follower = new CommandFollower(executor, tools, {
    onOutput(piece) {
      // A slow reader can delay output, and the response follows the output.
      tell({ processId: piece.sessionId });
      return onOutput(piece);
    },
    signal,
    clock: context.clock,
    answerMarginMs: context.config.timings.answerMarginMs,
    newKey: context.newKey,
    toError: toOrchestratorError,
    client,
    onResult(result) {
      last = result;
      if (result.outcome.kind === "running") tell({ processId: result.processId });
    },
  });
  const ended = follower.start(wire).ended;
  const seen = await Promise.race([first, ended]);
  const processId = "processId" in seen ? seen.processId : undefined;
  const session = processId === undefined ? undefined : context.sessions.adopt(owner, processId, client);
  void ended.then((outcome) => {
    if (session !== undefined && outcome.kind === "ended") session.state = { kind: "ended", outcome: outcome.outcome };
    const result = toAnswer(outcome, last, environment);
    context.trail.answered(result);
    context.trail.ended(result);
  });
  const known = session === undefined ? {} : { sessionId: session.id };
  const start: CommandStart =
    "kind" in seen
      ? describeStart(seen, { environment, notices })
      : { kind: "started", environment, notices, ...known };
  const shell = session && createTypedShell(selected, program.judged, permit);
  if (session === undefined || shell === undefined) return { start, follower };
  context.typedShells.set(session, shell);
  return {
    start,
    follower,
    async refuseInput(text, isEnd) {
      const { trail } = beginTrail(INPUT_TOOL, {}, context);
      trail.tool(executor.name, { session_id: session.id, chars: text }, session.id);
      const input = { text, isEnd, signal, session: session.id };
      const refused = (await refuseInput(shell, input, { ...context, trail })) ?? (await trail.sending(undefined));
      trail.ended(refused ?? DONE);
      return refused;
    },
  };
}

/** For a program that has ended by the first response. */
function describeStart(
  outcome: RunOutcome,
  started: { environment: string; notices: readonly string[] },
): CommandStart {
  switch (outcome.kind) {
    case "ended":
      if (outcome.outcome.kind === "failed_to_start") return { kind: "failed", reason: outcome.outcome.reason };
      return { kind: "started", ...started };
    case "refused": {
      const { reason, code } = outcome;
      return { kind: "failed", reason, ...defined({ code }) };
    }
    case "lost":
      return { kind: "lost", reason: outcome.reason };
  }
}

/** The equivalent result of a call, for telemetry. */
const toResult = (start: CommandStart): ToolCallResult =>
  start.kind === "failed" || start.kind === "lost" ? fail("tool_failed", start.reason) : DONE;

/** The result for the audit log, after the end of the program. */
function toAnswer(outcome: RunOutcome, last: UnifiedExecResult | undefined, environment: string): ToolCallResult {
  switch (outcome.kind) {
    case "ended":
      // Its results carry no output: all of it was delivered live.
      return { ...DONE, structured: last && { ...last, range: { from: 0, to: last.range.to }, omitted: [] } };
    case "refused":
      return fail("tool_failed", outcome.reason);
    case "lost": {
      const lost = { kind: "lost" as const, reason: outcome.reason, lastSeq: 0 };
      return { status: "lost", isError: true, text: outcome.reason, structured: { outcome: lost, environment } };
    }
  }
}

/** Before anything is sent, every result is a refusal. */
const refusalOf = (result: ToolCallResult): RefusedCall =>
  result.isError && result.status !== "lost" ? result : fail("executor_offline", `${result.text} ${NOT_RUN}`);

const DONE = { status: "success", isError: false, text: "", structured: undefined } as const;
/** The tool name under which a program is judged and recorded. */
const TOOL = "exec_command";
const INPUT_TOOL = "write_stdin";
const NOT_RUN = "Nothing was run.";
