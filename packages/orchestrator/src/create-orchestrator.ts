import type { ApprovalPolicy, Policy, PolicyOptions, SandboxSettings } from "@codex/policy";
import { createLazyShellParser, createSandboxSelector, RuleBook } from "@codex/policy";
import type { Orchestrator, OrchestratorOptions } from "./api.js";
import { Approvals } from "./approvals/approvals.js";
import { createCallTelemetry } from "./calls/call-telemetry.js";
import { type CallsContext, handleToolCall } from "./calls/call-tool.js";
import { type HandleCall, OrchestratorCore, type Shared } from "./orchestrator.js";

/** @throws OrchestratorError `bad_option` for a default or a sandbox mode that cannot be used. */
export function createOrchestrator(options: OrchestratorOptions): Orchestrator {
  return new OrchestratorCore(options, (shared) => createHandler(options, shared));
}

function createHandler(options: OrchestratorOptions, { clock, ...shared }: Shared): HandleCall {
  const policy = resolvePolicy(options.policy);
  const { limits, timings } = shared.config;
  const context: CallsContext = {
    ...shared,
    policy,
    rules: new RuleBook(policy.rules, policy.saveRule),
    sandboxed: new WeakMap(),
    typedShells: new WeakMap(),
    approvals: new Approvals({
      approver: options.approver,
      clock,
      timeoutMs: timings.approvalMs,
      limit: limits.rememberedApprovals,
    }),
    shellParser: options.shellParser ?? createLazyShellParser(),
    telemetry: createCallTelemetry(options.telemetry ?? {}),
  };
  return (name, args, callOptions) => handleToolCall(name, args, callOptions, context);
}

function resolvePolicy(given: PolicyOptions | ApprovalPolicy): Policy {
  const options = typeof given === "object" && "approvalPolicy" in given ? given : { approvalPolicy: given };
  const { sandbox } = options;
  if (typeof sandbox === "object") return { ...options, sandbox };
  const settings: SandboxSettings =
    sandbox === undefined ? { mode: "read-only", when_unavailable: "ask" } : { mode: sandbox };
  return { ...options, sandbox: createSandboxSelector(settings) };
}
