import { randomUUID } from "node:crypto";
import {
  type AgentTool,
  createApplyPatchTool,
  createFilePolicy,
  createUpdatePlanTool,
  createViewImageTool,
  describeModel,
  type FilePolicy,
} from "@codex/agent";
import type { AgentSettings } from "@codex/agent-terminal";
import { systemClock } from "@codex/clock";
import { toWireSandbox } from "@codex/exec-server-protocol";
import type { Orchestrator } from "@codex/orchestrator";
import { defined } from "@codex/values";
import type { Place } from "./open-place.js";
import type { Workspace } from "./open-workspace.js";

/** Options of the agent's own tools, about which the orchestrator decides as about its commands. */
export interface FileToolsOptions {
  readonly place: Place;
  readonly workspace: Workspace;
  readonly settings: AgentSettings;
  readonly orchestrator: Pick<Orchestrator, "connectEnvironment" | "executors" | "files">;
}

/** Creates `apply_patch`, `view_image` and, if configured, `update_plan`. */
export function createFileTools(options: FileToolsOptions): { list: AgentTool[]; policy: FilePolicy } {
  const { place, workspace, settings, orchestrator } = options;
  const { executor, files, ids = [executor.name] } = place;
  const id = executor.name;
  const hostOf = (environment: string) => orchestrator.executors.find(({ name }) => name === environment)?.host;
  const cwdOf = (environment: string) =>
    (environment === id ? workspace.cwd : undefined) ?? hostOf(environment)?.cwd ?? "/";
  const newId = () => randomUUID().replaceAll("-", "");
  const policy = createFilePolicy({
    files: orchestrator.files,
    workspaceRootsOf: (environment) => [cwdOf(environment), ...(environment === id ? workspace.addedRoots : [])],
    toFileSandbox: toWireSandbox,
  });
  const environments = {
    ids,
    async get(named: string = id, signal: AbortSignal) {
      if (!ids.includes(named)) return undefined;
      const connected = await orchestrator.connectEnvironment(named, signal);
      if (connected.kind === "failed")
        return { refused: `environment \`${named}\` cannot be used: ${connected.reason}` };
      const { executor: found, notice } = connected;
      const there = found.name === id ? files : place.getEnvironment(found.name).files;
      return { id: found.name, files: there, cwd: cwdOf(found.name), ...defined({ notice }) };
    },
  };
  const { originalImages } = describeModel(settings.model);
  const list = [
    ...(ids.length === 0
      ? []
      : [
          createApplyPatchTool({ environments, policy, clock: systemClock, newId }),
          createViewImageTool({ environments, policy, originalImages }),
        ]),
    ...(settings.updatePlan ? [createUpdatePlanTool()] : []),
  ];
  return { list, policy };
}
