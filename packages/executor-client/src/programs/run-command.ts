import type { ExecCommandRequest } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import type { ExecutorConnection } from "../connection/executor-connection.js";
import { ExecutorConnectionError } from "../errors.js";
import { FIRST_WINDOW_MS } from "../limits.js";
import { CommandFollower, findProgramTools, type RunHooks } from "./command-follower.js";
import type { RunCommandRequest, RunningCommand } from "./running-command.js";

/** Starts a program that its user approved by asking for it. @throws ExecutorConnectionError `unsupported` when the executor cannot stream. */
export function runCommand(executor: ExecutorConnection, request: RunCommandRequest, hooks: RunHooks): RunningCommand {
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
  return new CommandFollower(executor, tools, hooks).start(toWire(request, executor.host.cwd));
}

function toWire(request: RunCommandRequest, defaultCwd: string): ExecCommandRequest {
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
    // A person sees all of it, even if the channel was lost for a while.
    whenFull: "pause",
  };
}
