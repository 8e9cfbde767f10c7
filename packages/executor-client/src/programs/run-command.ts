import type { ExecCommandRequest, ResourceLimits, UnifiedExecResult } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import type { ExecutorConnection } from "../connection/executor-connection.js";
import { ExecutorConnectionError } from "../errors.js";
import { FIRST_WINDOW_MS } from "../limits.js";
import { CommandFollower, failureOf, findProgramTools, parseResult, type RunHooks } from "./command-follower.js";
import type { RunCommandRequest, RunningCommand } from "./running-command.js";

/** Starts a program that its user approved by asking for it. @throws ExecutorConnectionError `unsupported` when the executor cannot stream. */
export function runCommand(executor: ExecutorConnection, request: RunCommandRequest, hooks: RunHooks): RunningCommand {
  const { tools, cwd } = requireProgramTools(executor, request, hooks);
  return new CommandFollower(executor, tools, hooks).start(toWire(request, cwd, executor.resourceLimits));
}

/** A program that was started and left. */
export interface LeftCommand {
  /** The id of its session; undefined when it had ended at once. */
  sessionId: number | undefined;
  /** How the call ended, with the output so far. */
  result: UnifiedExecResult;
}

/**
 * Starts a program that stays when this orchestrator closes, until it ends. Rejects when it was not started.
 * @throws ExecutorConnectionError `unsupported` where sessions end with their orchestrator
 */
export async function startDetached(
  executor: ExecutorConnection,
  request: RunCommandRequest,
  hooks: RunHooks,
): Promise<LeftCommand> {
  const { tools, cwd, refuse } = requireProgramTools(executor, request, hooks);
  if (!executor.can("detached")) throw refuse("it keeps no sessions of orchestrators that have gone");
  const wire = {
    ...toWire(request, cwd, executor.resourceLimits),
    detached: true,
    whenFull: "spill",
    maxOutputTokens: FIRST_OUTPUT_TOKENS,
  } as const;
  const { reply } = executor.call({
    toolName: tools.exec,
    arguments: wire,
    isInstanceBound: true,
    deadlineMs: FIRST_WINDOW_MS + hooks.answerMarginMs,
  });
  const answered = await reply;
  const result = parseResult(answered);
  if (result === undefined) throw new Error(failureOf(answered) ?? "the executor did not say whether it was started");
  return { sessionId: result.processId, result };
}

/** Of what a program prints at once. */
const FIRST_OUTPUT_TOKENS = 100_000;

function requireProgramTools(executor: ExecutorConnection, request: RunCommandRequest, hooks: RunHooks) {
  const tools = findProgramTools(executor);
  const refuse = (missing: string) => {
    const problem = `executor \`${executor.name}\` cannot run a program for a person: ${missing}`;
    const failure = new ExecutorConnectionError("unsupported", problem);
    return hooks.toError?.(failure) ?? failure;
  };
  if (tools === undefined || executor.host === undefined) {
    throw refuse("it does not offer unified exec with live output");
  }
  if (request.network !== undefined && !executor.can("managed_network")) {
    throw refuse("it cannot limit which hosts a program reaches");
  }
  if (request.network?.routes !== undefined && !executor.can("network_routes")) {
    throw refuse("it has no routes with secrets");
  }
  if (Object.keys(executor.resourceLimits).length > 0 && !executor.can("limits")) {
    throw refuse("it cannot hold the limits of this environment");
  }
  return { tools, cwd: executor.host.cwd, refuse };
}

function toWire(request: RunCommandRequest, defaultCwd: string, limits: ResourceLimits): ExecCommandRequest {
  const { argv, cwd, env, envPolicy, tty, size, stdin, sandbox, network, timeoutMs } = request;
  return {
    command: [...argv],
    cwd: cwd ?? defaultCwd,
    env: { ...env },
    tty,
    yieldTimeMs: FIRST_WINDOW_MS,
    maxOutputTokens: 0,
    sandboxPermissions: "use_default",
    additionalPermissions: null,
    additionalPermissionsPreapproved: false,
    justification: null,
    execApprovalRequirement: { skip: { bypassSandbox: false, proposedExecPolicyAmendment: null } },
    ...defined({ envPolicy, sandbox, network, size, stdin, timeoutMs }),
    ...(Object.keys(limits).length === 0 ? {} : { limits }),
    // A person sees all of it, even if the channel was lost for a while.
    whenFull: "pause",
  };
}
