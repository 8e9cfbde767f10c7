import { homedir } from "node:os";
import { basename } from "node:path";
import {
  type AgentFiles,
  confineFiles,
  createProjectReader,
  describePermissions,
  type FilePolicy,
  renderEnvironmentContext,
  type TurnContext,
} from "@codex/agent";
import { createHomeFiles } from "@codex/agent/node";
import { type AgentSettings, describeOthers, getToday } from "@codex/agent-terminal";
import { codexHome, type Settings } from "@codex/config";
import type { McpTools } from "@codex/mcp-client";
import type { Orchestrator } from "@codex/orchestrator";
import { defined } from "@codex/values";
import type { Place } from "./open-place.js";
import type { Workspace } from "./open-workspace.js";

/** Options of the context of a turn. */
export interface ContextSources {
  readonly place: Place;
  readonly workspace: Workspace;
  readonly settings: AgentSettings;
  readonly config: Settings;
  readonly policy: FilePolicy;
  readonly mcp: McpTools | undefined;
  readonly orchestrator: Pick<Orchestrator, "listEnvironments">;
}

/** Creates a function that reads the current context before each turn. */
export function createContextReader(sources: ContextSources): (turn: { prompt: string }) => Promise<TurnContext> {
  const { place, workspace, settings, policy } = sources;
  const { executor, files, isOwn } = place;
  const project = createProjectReader({
    fallbackNames: settings.projectDocFallbackFilenames,
    home: createHomeFiles({ codexHome: codexHome(), home: homedir(), isShared: isOwn }),
    ...defined({ rootMarkers: settings.projectRootMarkers, maxDocBytes: settings.projectDocMaxBytes }),
  });
  return async ({ prompt }) => {
    const cwd = workspace.cwd ?? executor.host?.cwd ?? "/";
    const chosen = await policy.sandboxOf({ environment: executor.name, cwd });
    const confined = "refused" in chosen ? refuseFiles(chosen.refused) : confineFiles(files, chosen.fileSandbox);
    const { offlineReason } = executor;
    const none = offlineReason === undefined ? undefined : refuseFiles(offlineReason, true);
    const read = await project.read({ files: none ?? files, confined: none ?? confined, cwd }, prompt);
    const warnings = [...(read.warnings ?? []), ...(sources.mcp?.takeWarnings() ?? [])];
    const { instructions, permissions, environments } = describePlace(sources);
    return { ...read, sections: [...instructions, ...read.sections, permissions, environments], warnings };
  };
}

/** Sections for configured instructions, permissions and environments. */
function describePlace({ place, workspace, settings, config, orchestrator }: ContextSources) {
  const { executor } = place;
  const { developerInstructions } = settings;
  const { sandbox, approvalPolicy } = config;
  const cwd = workspace.cwd ?? executor.host?.cwd;
  const shell = executor.host?.shell.name;
  const error = executor.offlineReason;
  const approvals = typeof approvalPolicy === "string" ? approvalPolicy : "on-request";
  const writableRoots =
    sandbox.mode === "workspace-write" ? [...workspace.addedRoots, ...(sandbox.writableRoots ?? [])] : [];
  const environment = {
    id: executor.name,
    ...(cwd === undefined ? {} : { cwd, roots: [cwd, ...workspace.addedRoots] }),
    ...(shell === undefined ? {} : { shell: basename(shell) }),
    ...defined({ profile: sandbox.mode, error }),
  };
  const others = describeOthers(
    orchestrator.listEnvironments().filter(({ id }) => id !== executor.name && place.ids?.includes(id)),
  );
  const environments = place.ids?.length === 0 ? [] : [environment, ...others];
  return {
    instructions:
      developerInstructions === undefined
        ? []
        : [{ role: "developer" as const, opening: developerInstructions, text: developerInstructions }],
    permissions: describePermissions({
      sandboxMode: sandbox.mode ?? "read-only",
      networkAccess: sandbox.mode === "danger-full-access" || sandbox.networkAccess === true,
      allowedHosts: listAllowedHosts(config),
      approvalPolicy: approvals,
      writableRoots,
    }),
    environments: renderEnvironmentContext({ environments, ...getToday() }),
  };
}

/** Of the configuration alone: the rule files may allow others. */
function listAllowedHosts({ sandbox, network }: Settings): readonly string[] | undefined {
  const isOpen = sandbox.mode === "workspace-write" && sandbox.networkAccess === true;
  const isSandboxed = sandbox.mode !== "danger-full-access";
  if (network === undefined || !(isOpen || (isSandboxed && network.opensSandbox === true))) return undefined;
  const allowed = (network.rules ?? []).filter(({ decision }) => decision === "allow").map(({ pattern }) => pattern);
  const routes = (network.routes ?? []).map(
    ({ name, url }) => `http://${name}.route/ (credentials for ${url} are added)`,
  );
  return [...routes, ...allowed];
}

/** Files for which every call rejects with `reason`. @param isEmpty as if there were no files */
function refuseFiles(reason: string, isEmpty = false): AgentFiles {
  const refuse = () => Promise.reject(isEmpty ? Object.assign(new Error(reason), { code: -32004 }) : new Error(reason));
  const reading = { readFile: refuse, getMetadata: refuse, canonicalize: refuse, walk: refuse };
  return { ...reading, writeFile: refuse, createDirectory: refuse, remove: refuse, copy: refuse };
}
