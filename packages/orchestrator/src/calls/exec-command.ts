import { commandIn } from "@codex/hooks";
import { defined } from "@codex/values";
import { copyFrozen } from "../approvals/binding.js";
import { type CommandTerms, questionKeyOf } from "../decide/command.js";
import type { Allowed } from "../decide/decision.js";
import { TypedShell } from "../decide/typed-line.js";
import type { Session } from "../executors/sessions.js";
import { type ResolvedExec, resolveExecCommand } from "../resolve/exec-command.js";
import { limited } from "../resolve/limited.js";
import { rejected } from "../resolve/resolved.js";
import type { Selected } from "../resolve/select-executor.js";
import { fail, type ToolCallResult } from "../result.js";
import type { CallContext } from "./call-context.js";
import type { CallToolOptions } from "./call-options.js";
import { findChange } from "./find-change.js";
import { invalid, type PrepareCall, stopped } from "./prepared.js";
import { refuseBlocked, refuseCommand } from "./refusal.js";
import { decideRerun, joinRuns, type SandboxedRun, withNotice } from "./rerun.js";
import { send } from "./send.js";

/** A command of a model. */
export const prepareExecCommand: PrepareCall = async (selected, args, options, context) => {
  const { executor, tool } = selected;
  const { config } = context;
  const { cwd: turnCwd, workspaceRoots, variables } = options;
  const resolve = (given: Record<string, unknown>) =>
    resolveExecCommand(given, {
      config: limited(config, executor),
      host: executor.host,
      turnCwd,
      workspaceRoots,
      variables,
      takesLimits: executor.can("limits"),
    });
  const asGiven = resolve(args);
  if (asGiven.kind === "rejected") return stopped(invalid(tool.name, asGiven));
  const place = { environment: context.catalog.environmentOf(executor.name), cwd: asGiven.value.request.cwd };
  const hooked = await context.callHooks.before({ tool: "Bash", input: { command: args.cmd } }, place);
  if (hooked?.answer.kind === "block") {
    context.trail.command(executor.name, asGiven.value.request);
    context.trail.blocked();
    const { command, cwd } = asGiven.value.request;
    return stopped(refuseBlocked(hooked.use, hooked.answer.reason, { command, cwd }));
  }
  const changed = hooked?.answer.input;
  const cmd = commandIn(changed);
  if (changed !== undefined && cmd === undefined) {
    return stopped(invalid(tool.name, rejected("cmd", "a hook replaced it by what has no `command`")));
  }
  const resolved = cmd === undefined ? asGiven : resolve({ ...args, cmd });
  if (resolved.kind === "rejected") return stopped(invalid(tool.name, resolved));
  context.trail.command(executor.name, resolved.value.request);
  const excess = context.sessions.findExcess();
  if (excess !== undefined) return stopped(fail("too_many_calls", `${excess} Nothing was run.`));
  const decision = await context.decider.command({ selected, resolved: resolved.value }, options.signal);
  if (decision.kind === "refused") return stopped(refuseCommand(decision, resolved.value.request));
  if (decision.kind === "ask") return decision;
  return {
    kind: "ready",
    async run() {
      const result = await run(selected, resolved.value, decision, options, context);
      const session = findRunning(result, context);
      if (session === undefined) return context.callHooks.after(hooked?.use, result);
      if (hooked !== undefined) context.hookedSessions.set(session, hooked.use);
      return result;
    },
  };
};

async function run(
  selected: Selected,
  resolved: ResolvedExec,
  decision: Allowed<CommandTerms>,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> {
  const { owner } = selected.executor;
  const { terms } = decision;
  const result = await sendDecided(selected, resolved, decision, options, context);
  const session = findRunning(result, context);
  const shell = session && TypedShell.of(selected, resolved, terms);
  if (session !== undefined && shell !== undefined) context.typedShells.set(session, shell);
  if (terms.sandbox === undefined || terms.sandbox === null) return result;
  return followSandboxed({ selected, owner, resolved, command: terms.command }, result, options, context);
}

/** Sends a command as it was decided. Exactly what is sent is compared with what was approved; if it differs, nothing is sent. */
async function sendDecided(
  selected: Selected,
  { request, notices, host }: ResolvedExec,
  { terms, approval, notices: more }: Allowed<CommandTerms>,
  options: CallToolOptions,
  context: CallContext,
  isInstanceBound = false,
): Promise<ToolCallResult> {
  const { executor } = selected;
  const { bypassSandbox, proposedAmendment } = terms;
  context.trail.command(executor.name, request);
  const wireArguments = copyFrozen({
    ...request,
    execApprovalRequirement: { skip: { bypassSandbox, proposedExecPolicyAmendment: proposedAmendment } },
    ...("sandbox" in terms ? { sandbox: terms.sandbox } : {}),
    ...defined({ execGate: terms.execGate, network: terms.network }),
    ...(executor.initialized && approval !== undefined ? { approvalId: approval.id } : {}),
  });
  const refused = findChange(executor, { request, host }, approval, wireArguments);
  if (refused !== undefined) return refused;
  const key = questionKeyOf(terms);
  if (key !== undefined) {
    const { client, approver, hookCaller: caller } = options;
    const environment = context.catalog.environmentOf(executor.name);
    const { command, cwd } = request;
    const sandbox = terms.sandbox ?? null;
    context.askingCommands.add(key, { environment, command, cwd, sandbox, client, approver, caller });
  }
  context.hostReports.follow(terms.network?.reports, (hosts, omitted) => context.trail.hosts(hosts, omitted));
  const call = { wireArguments, windowMs: request.yieldTimeMs, notices: [...notices, ...more], isInstanceBound };
  const result = await send(selected, call, options, context);
  if (key === undefined) return result;
  const session = findRunning(result, context);
  if (session === undefined) context.askingCommands.remove(key);
  else session.questionKey = key;
  return result;
}

/** A session is remembered until its end; an end that the sandbox may have caused can lead to a second run outside. */
export async function followSandboxed(
  run: SandboxedRun,
  result: ToolCallResult,
  options: CallToolOptions,
  context: CallContext,
): Promise<ToolCallResult> {
  const session = findRunning(result, context);
  if (session !== undefined) context.sandboxed.set(session, run);
  const rerun = await decideRerun(run, result, options.signal, context.decider);
  if (rerun.kind === "result") return rerun.result;
  const { resolved, selected, owner } = run;
  const { executor } = selected;
  // The approval is valid only for the executor of the first run.
  if (executor.owner !== owner || executor.offlineReason !== undefined) {
    const gone = executor.offlineReason ?? "its executor was restarted in the meantime";
    return withNotice(result, `it did not run again outside the sandbox, though that was approved: ${gone}`);
  }
  const again = await sendDecided(selected, resolved, rerun.decision, options, context, true);
  return joinRuns(result, again, rerun.notice);
}

/** The session of a result that says that it runs. */
export function findRunning({ structured }: ToolCallResult, { sessions }: CallContext): Session | undefined {
  if (structured === undefined || !("processId" in structured)) return undefined;
  return typeof structured.processId === "number" ? sessions.get(structured.processId) : undefined;
}
