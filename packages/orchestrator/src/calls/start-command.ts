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
import { type CommandTerms, questionKeyOf } from "../decide/command.js";
import type { Allowed } from "../decide/decision.js";
import { TypedShell } from "../decide/typed-line.js";
import { toOrchestratorError } from "../errors.js";
import { CallHooks } from "../hooks/call-hooks.js";
import { scriptOf } from "../hooks/request-use.js";
import type { Started } from "../programs/judged-command.js";
import type { CommandStart, StartCommandRequest } from "../programs/started-command.js";
import { limited } from "../resolve/limited.js";
import { selectEnvironment } from "../resolve/select-environment.js";
import type { Selected } from "../resolve/select-executor.js";
import { type ResolvedProgram, resolveStartCommand } from "../resolve/start-command.js";
import { getTurn } from "../resolve/turn.js";
import { fail, interrupted, type RefusedCall, type ToolCallResult } from "../result.js";
import type { CallContext, CallPorts } from "./call-context.js";
import type { CallToolOptions } from "./call-options.js";
import { beginTrail, failed } from "./call-tool.js";
import { findChange } from "./find-change.js";
import { invalid } from "./prepared.js";
import { refuseBlocked, refuseCommand, refuseTyped } from "./refusal.js";

/**
 * Options of starting a program: those of a call that do not concern results and repeats. `grant` is for what `judge` returned for `exec_command` with the
 * same command, directory and terminal.
 */
export type StartCommandOptions = Pick<
  CallToolOptions,
  | "signal"
  | "onOutput"
  | "cwd"
  | "workspaceRoots"
  | "environments"
  | "onDecision"
  | "approver"
  | "client"
  | "grant"
  | "hookCaller"
>;

/** Judges a program as a call of `exec_command`, and starts it. Never rejects. */
export async function startCommand(
  request: StartCommandRequest,
  options: StartCommandOptions,
  output: SplitOutput,
  ports: CallPorts,
): Promise<Started> {
  const push: OnOutput = (piece) => output.push(piece);
  const { trail, onOutput = push } = beginTrail(TOOL, { ...options, onOutput: push }, ports);
  const watch = ports.telemetry.begin(TOOL);
  const progress = { isSent: false };
  const callHooks = new CallHooks(ports.hooks, options);
  const own = { ...ports, trail, progress, trace: watch.trace, callHooks };
  const prepared = await prepare(request, options, own).catch((error: unknown) => failed(error, false));
  if ("isError" in prepared) {
    watch.end(prepared);
    trail.ended(prepared);
    return { start: { kind: "refused", result: prepared } };
  }
  const started = await follow(prepared, options, onOutput);
  watch.end(toResult(started.start));
  return started;
}

/** A program that may run, and how it is sent. */
interface PreparedProgram {
  selected: Selected;
  program: ResolvedProgram;
  terms: CommandTerms;
  wire: ExecCommandRequest;
  tools: { exec: string; stdin: string };
  environment: string;
  notices: readonly string[];
  context: CallContext;
}

async function prepare(
  request: StartCommandRequest,
  options: StartCommandOptions,
  context: Omit<CallContext, "decider">,
): Promise<PreparedProgram | RefusedCall> {
  const { environments: selection, signal, client } = options;
  if (signal?.aborted) return interrupted();
  const named = request.environment === undefined ? {} : { [ENVIRONMENT_ID]: request.environment };
  const placed = await selectEnvironment(TOOL, named, { ...context, selection, client }, signal);
  if (placed.kind === "result") return refusalOf(placed.result);
  const { selected, notice } = placed;
  const { executor } = selected;
  const environment = context.catalog.environmentOf(executor.name);
  const { approver, grant, hookCaller: caller } = options;
  const { trail } = context;
  const own = { ...context, decider: context.deciders.asking(environment, { client, approver, grant, trail, caller }) };
  const at = (refused: RefusedCall): RefusedCall => ({ ...refused, environment });
  const { cwd: turnCwd, workspaceRoots } = getTurn(options, environment);
  const resolved = resolveStartCommand(request, {
    config: limited(context.config, executor),
    host: executor.host,
    turnCwd,
    workspaceRoots,
    takesLimits: executor.can("limits"),
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
  const blocked = await askHooks(judged.request, environment, context);
  if (blocked !== undefined) return at(blocked);
  const decision = await own.decider.command({ selected, resolved: judged }, signal);
  if (decision.kind !== "allowed") {
    return at(decision.kind === "refused" ? refuseCommand(decision, judged.request) : interrupted());
  }
  const { terms, approval } = decision;
  const wire = toWire(resolved.value, decision);
  const sent = { ...wire, command: judged.request.command };
  const refused = findChange(executor, judged, approval, sent) ?? (await trail.sending(terms.sandbox));
  if (refused !== undefined) return at(refused);
  if (signal?.aborted) return at(interrupted());
  const notices = [...(notice === undefined ? [] : [notice]), ...decision.notices];
  return { selected, program: resolved.value, terms, wire, tools, environment, notices, context: own };
}

/** Why hooks do not let a program start. */
async function askHooks(
  request: { command: readonly string[]; cwd: string },
  environment: string,
  { callHooks, trail }: Pick<CallContext, "callHooks" | "trail">,
): Promise<RefusedCall | undefined> {
  const script = scriptOf(request.command);
  const hooked = await callHooks.before(
    { tool: "Bash", input: { command: script } },
    { environment, cwd: request.cwd },
  );
  if (hooked === undefined || (hooked.answer.kind === "continue" && hooked.answer.input === undefined))
    return undefined;
  trail.blocked();
  const reason =
    hooked.answer.kind === "block" ? hooked.answer.reason : "the hook changed it, which a program cannot be";
  return refuseBlocked(hooked.use, reason, request);
}

const toWire = ({ judged, argv }: ResolvedProgram, { terms, approval }: Allowed<CommandTerms>): ExecCommandRequest =>
  copyFrozen({
    ...judged.request,
    command: [...argv],
    execApprovalRequirement: {
      skip: {
        bypassSandbox: terms.bypassSandbox,
        proposedExecPolicyAmendment: terms.proposedAmendment === null ? null : [...terms.proposedAmendment],
      },
    },
    ...("sandbox" in terms ? { sandbox: terms.sandbox } : {}),
    ...defined({ execGate: terms.execGate, network: terms.network }),
    ...(approval === undefined ? {} : { approvalId: approval.id }),
  });

/** The first information about a started program. */
interface Sighting {
  processId: number | undefined;
}

async function follow(prepared: PreparedProgram, options: StartCommandOptions, onOutput: OnOutput): Promise<Started> {
  const { selected, program, terms, wire, tools, environment, notices, context } = prepared;
  const { executor } = selected;
  const { owner } = executor;
  const { client, signal } = options;
  context.progress.isSent = true;
  const key = questionKeyOf(terms);
  if (key !== undefined) {
    const { command, cwd } = program.judged.request;
    const { approver, hookCaller: caller } = options;
    const sandbox = terms.sandbox ?? null;
    context.askingCommands.add(key, { environment, command, cwd, sandbox, client, approver, caller });
  }
  context.hostReports.follow(terms.network?.reports, (hosts, omitted) => context.trail.hosts(hosts, omitted));
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
    if (key !== undefined) context.askingCommands.remove(key);
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
  const shell = session && TypedShell.of(selected, program.judged, terms);
  if (session === undefined || shell === undefined) return { start, follower };
  context.typedShells.set(session, shell);
  return {
    start,
    follower,
    async refuseInput(text, isEnd) {
      const { trail } = beginTrail(INPUT_TOOL, {}, context);
      trail.tool(executor.name, { session_id: session.id, chars: text }, session.id);
      const { approver, grant, hookCaller: caller } = options;
      const decider = context.deciders.asking(environment, { client, approver, grant, trail, caller });
      const typed = { command: [text], cwd: shell.resolved.request.cwd };
      const blocked = await askHooks(typed, environment, { callHooks: new CallHooks(context.hooks, options), trail });
      if (blocked !== undefined) {
        trail.ended(blocked);
        return blocked;
      }
      const { decision, command } = await decider.typedLine({ shell, text, isEnd, session: session.id }, signal);
      const refused =
        decision.kind === "allowed"
          ? await trail.sending(undefined)
          : decision.kind === "refused"
            ? refuseTyped(decision, shell, command)
            : interrupted();
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
