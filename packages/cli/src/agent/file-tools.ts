import { randomUUID } from "node:crypto";
import {
  type AgentTool,
  createApplyPatchTool,
  createUpdatePlanTool,
  createViewImageTool,
  describeModel,
  type FilePolicy,
} from "@codex/agent";
import { createFilePolicy } from "@codex/agent/node";
import type { AgentSettings } from "@codex/agent-terminal";
import { systemClock } from "@codex/clock";
import { toWireSandbox } from "@codex/exec-server-protocol";
import { type Approver, type AuditOptions, Auditor } from "@codex/orchestrator";
import type { ApprovalPolicy, SandboxSelector } from "@codex/policy";
import type { Place } from "./open-place.js";
import type { Workspace } from "./open-workspace.js";

/** Options of the agent's own tools, with the policy, sandbox and approver of its commands. */
export interface FileToolsOptions {
  readonly place: Place;
  readonly workspace: Workspace;
  readonly settings: AgentSettings;
  readonly approvalPolicy: ApprovalPolicy;
  readonly sandbox: SandboxSelector;
  readonly approver: Approver | undefined;
  readonly audit: AuditOptions | undefined;
}

/** Creates `apply_patch`, `view_image` and, if configured, `update_plan`. */
export function createFileTools(options: FileToolsOptions): { list: AgentTool[]; policy: FilePolicy } {
  const { place, workspace, settings, approvalPolicy, sandbox, approver, audit } = options;
  const { executor, files } = place;
  const id = executor.name;
  const cwd = workspace.cwd ?? executor.host?.cwd ?? "/";
  const newId = () => randomUUID().replaceAll("-", "");
  const policy = createFilePolicy({
    approvalPolicy,
    sandbox,
    hostOf: () => executor.host,
    workspaceRootsOf: () => [cwd, ...workspace.addedRoots],
    toFileSandbox: toWireSandbox,
    newId,
    auditor: new Auditor(audit, newId),
    ...(approver === undefined ? {} : { approver }),
  });
  const environments = {
    ids: [id],
    get: (named: string | undefined) => (named === undefined || named === id ? { id, files, cwd } : undefined),
  };
  const { originalImages } = describeModel(settings.model);
  const list = [
    createApplyPatchTool({ environments, policy, clock: systemClock, newId }),
    createViewImageTool({ environments, policy, originalImages }),
    ...(settings.updatePlan ? [createUpdatePlanTool()] : []),
  ];
  return { list, policy };
}
