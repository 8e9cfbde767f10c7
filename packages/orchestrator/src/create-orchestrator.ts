import type { GetShellParser, Policy, PolicyOptions, SandboxSettings } from "@codex/policy";
import { createLazyShellParser, createSandboxSelector, RuleBook, refusingPolicy } from "@codex/policy";
import type { Orchestrator, OrchestratorOptions } from "./api.js";
import { createApproverPanel } from "./approvals/approver-panel.js";
import { AskingCommands } from "./calls/asking-commands.js";
import { createCallTelemetry } from "./calls/call-telemetry.js";
import { handleToolCall } from "./calls/call-tool.js";
import type { HandlerPorts } from "./calls/file-tool-port.js";
import { HostReports } from "./calls/host-reports.js";
import { judgeToolCall } from "./calls/judge-call.js";
import { startCommand } from "./calls/start-command.js";
import { Approvals } from "./decide/approvals.js";
import { createDeciders } from "./decide/deciders.js";
import type { Ruling } from "./decide/ports.js";
import { OrchestratorError } from "./errors.js";
import { FileTools } from "./file-tools/file-tools.js";
import { FILE_TOOLS, isFileTool } from "./file-tools/specs.js";
import { type ConnectFiles, createConnect } from "./files/connect.js";
import { createFiles } from "./files/judged-files.js";
import { createOrchestratorHooks } from "./hooks/hook-caller.js";
import { type CallHandler, type Collaborators, OrchestratorCore, type Shared } from "./orchestrator.js";

/**
 * Creates an orchestrator. The caller owns it and closes it.
 *
 * ```ts
 * const orchestrator = createOrchestrator({ policy: { approvalPolicy: "on-request", sandbox: "workspace-write" } });
 * await orchestrator.attach({ name: "build", channel: connectWebSocket("wss://build.example:7000", { token }) });
 * const { text } = await orchestrator.callTool("exec_command", { cmd: "make test" });
 * await orchestrator.close();
 * ```
 * @throws OrchestratorError `bad_option` naming the option, PolicyError for a sandbox mode that does not exist
 */
export const createOrchestrator = (options: OrchestratorOptions): Orchestrator => createWith(options, {});

/** Dependencies that tests replace, including the parser of shell scripts. */
export interface TestCollaborators extends Collaborators {
  /** Default: loaded when the first script is evaluated, once per orchestrator. */
  shellParser?: GetShellParser;
}

export function createWith(options: OrchestratorOptions, { shellParser, ...core }: TestCollaborators): Orchestrator {
  const policy = resolvePolicy(options.policy);
  const isAsked = refusingPolicy(policy.approvalPolicy, "sandboxApproval") === undefined;
  const permissionProfiles = isAsked ? [...(policy.profiles?.keys() ?? [])] : [];
  return new OrchestratorCore({ ...options, ...core, permissionProfiles }, (shared) =>
    createHandler(options, policy, shellParser ?? options.shellParser, shared),
  );
}

function createHandler(
  options: OrchestratorOptions,
  policy: Policy,
  shellParser: GetShellParser | undefined,
  { clock, untilReady, newId, ...shared }: Shared,
): CallHandler {
  const { limits, timings } = shared.config;
  const rulings = new Map<PolicyOptions, Pick<Ruling, "policy" | "rules">>();
  const rule = (given: PolicyOptions, resolved = resolvePolicy(given)) => {
    const known = rulings.get(given) ?? { policy: resolved, rules: new RuleBook(resolved.rules, resolved.saveRule) };
    rulings.set(given, known);
    return known;
  };
  const common = rule(options.policy, policy);
  const approvers = createApproverPanel();
  const rulingOf = (environment: string): Ruling => {
    const own = shared.environments.policyOf(environment);
    const approver = shared.environments.approverOf(environment) ?? options.approver;
    return { ...(own === undefined ? common : rule(own)), approver };
  };
  const approvals = new Approvals({
    clock,
    timeoutMs: timings.approvalMs,
    limit: limits.rememberedApprovals,
    panel: approvers,
  });
  const decidePorts = { clock, shellParser: shellParser ?? createLazyShellParser(), newId, closing: shared.closing };
  const hooks = createOrchestratorHooks(
    options.hooks,
    (environment) => rulingOf(environment).policy.approvalPolicy,
    newId,
  );
  const deciders = createDeciders(decidePorts, approvals, rulingOf, hooks);
  const { auditor } = shared;
  const askingCommands = new AskingCommands({ deciders, auditor, limit: limits.rememberedSessions });
  const telemetry = createCallTelemetry(options.telemetry ?? {});
  const hostReports = new HostReports(limits.rememberedSessions, telemetry);
  const connect = createConnect(options.connectFiles);
  const fileTools = createFileTools(options, connect);
  const context: HandlerPorts = {
    ...shared,
    fileTools,
    clock,
    deciders,
    askingCommands,
    hostReports,
    sandboxed: new WeakMap(),
    typedShells: new WeakMap(),
    telemetry,
    hooks,
    hookedSessions: new WeakMap(),
  };
  return {
    handle: (name, args, callOptions) => handleToolCall(name, args, callOptions, context),
    judge: (name, args, callOptions) => judgeToolCall(name, args, callOptions, context),
    files: createFiles(context, untilReady, connect),
    fileTools,
    start: (request, startOptions, output) => startCommand(request, startOptions, output, context),
    approvers,
    askingCommands,
    hostReports,
    checkPolicy: (given) => void rule(given),
  };
}

/** @throws OrchestratorError `bad_option` for a tool that does not exist */
function createFileTools(
  { fileTools, connectFiles }: Pick<OrchestratorOptions, "fileTools" | "connectFiles">,
  connect: ConnectFiles,
): FileTools | undefined {
  const unknown =
    fileTools === undefined || fileTools === false ? undefined : fileTools.find((name) => !isFileTool(name));
  if (unknown !== undefined) {
    throw new OrchestratorError(
      "bad_option",
      `fileTools has ${JSON.stringify(unknown)}; expected ${FILE_TOOLS.join(", ")}`,
    );
  }
  if (connectFiles === undefined || fileTools === false) return undefined;
  return new FileTools(fileTools ?? FILE_TOOLS, connect);
}

function resolvePolicy(options: PolicyOptions): Policy {
  // For callers in JavaScript: an invalid policy must not become a permissive one.
  if (typeof options !== "object" || options === null || options.approvalPolicy === undefined) {
    const expected = 'expected an object such as { approvalPolicy: "on-request" }';
    throw new OrchestratorError("bad_option", `policy is ${JSON.stringify(options)}; ${expected}`);
  }
  const { sandbox } = options;
  if (typeof sandbox === "object") return { ...options, sandbox };
  const settings: SandboxSettings =
    sandbox === undefined ? { mode: "read-only", whenUnavailable: "ask" } : { mode: sandbox };
  return { ...options, sandbox: createSandboxSelector(settings) };
}
