import type { ExecutorConnection } from "@codex/executor-client";
import type { HostInfo, Sandbox } from "@codex/executor-protocol";
import { findExcess } from "@codex/permissions";
import type { Policy, SandboxedCommand, SandboxSelector } from "@codex/policy";
import { findNoSandbox } from "@codex/policy";
import { messageOf } from "@codex/values";
import type { ResolvedExec } from "../resolve/exec-command.js";

/** The sandbox chosen for a command; `sandbox` is absent if the executor does not support the member. */
export type ChosenSandbox = { kind: "chosen"; sandbox?: Sandbox | null } | { kind: "refused"; reason: string };

/** The request for which a sandbox is chosen. */
interface SandboxedRequest {
  request: Pick<ResolvedExec["request"], "cwd" | "sandboxPermissions" | "additionalPermissions">;
  workspaceRoots: readonly string[] | undefined;
}

/**
 * The sandbox that a command would be sent with, or why this executor cannot apply it. Nothing is run with less than was
 * chosen: a command whose sandbox cannot be applied is refused here, before approval is requested.
 */
export function chooseSandbox(
  executor: Pick<ExecutorConnection, "name" | "host">,
  asked: SandboxedRequest,
  bypassSandbox: boolean,
  policy: Policy,
): ChosenSandbox {
  const { name, host } = executor;
  const chosen = selectSandbox(executor, asked, bypassSandbox, policy.sandbox);
  if (chosen.kind === "refused") return chosen;
  const { sandbox } = chosen;
  const problem = findMissingSupport(sandbox, host) ?? findAboveCeiling(sandbox, asked.request.cwd, host);
  if (problem !== undefined) return { kind: "refused", reason: `executor \`${name}\` ${problem}` };
  // An executor that supports only the base messages does not have the member.
  return host === undefined ? { kind: "chosen" } : chosen;
}

/** The sandbox that is configured for a place, whether or not the executor can apply it. */
export function selectSandbox(
  { name: environment, host }: Pick<ExecutorConnection, "name" | "host">,
  { request, workspaceRoots }: SandboxedRequest,
  bypassSandbox: boolean,
  selector: SandboxSelector,
): { kind: "chosen"; sandbox: Sandbox | null } | { kind: "refused"; reason: string } {
  const { cwd, sandboxPermissions, additionalPermissions } = request;
  const chosen = select(selector, {
    environment,
    host,
    cwd,
    workspaceRoots,
    sandboxPermissions,
    additionalPermissions,
    bypassSandbox,
  });
  return chosen !== null && "refused" in chosen
    ? { kind: "refused", reason: chosen.refused }
    : { kind: "chosen", sandbox: chosen };
}

/** If no sandbox could be chosen, nothing runs. */
function select(selector: SandboxSelector, asked: SandboxedCommand): ReturnType<SandboxSelector["select"]> {
  try {
    return selector.select(asked);
  } catch (error) {
    return { refused: `its sandbox could not be chosen: ${messageOf(error)}` };
  }
}

function findMissingSupport(sandbox: Sandbox | null, host: HostInfo | undefined): string | undefined {
  if (sandbox === null || (host !== undefined && sandbox.permissions.type === "disabled")) return undefined;
  const problem = findNoSandbox(host);
  return problem === undefined ? undefined : `${problem}. ${WITHOUT_SANDBOX}`;
}

const WITHOUT_SANDBOX =
  'A command runs there only outside the sandbox: with sandbox_permissions "require_escalated" where the approval policy asks, by a rule that allows it, or under sandbox mode `danger-full-access`';

/** Refuses commands that exceed the executor's ceiling without resolving links; the executor checks again with links resolved. */
function findAboveCeiling(sandbox: Sandbox | null, cwd: string, host: HostInfo | undefined): string | undefined {
  const ceiling = host?.sandbox?.ceiling;
  if (ceiling === undefined) return undefined;
  const context = { temporaryDirectories: [], resolve: (path: string) => path };
  const excess = findExcess({ cwd, sandbox }, { ...ceiling, roots: [] }, context);
  return excess === undefined ? undefined : `does not allow it: ${excess}`;
}
