import { basename } from "node:path";
import { describePermissions, describeSurroundings, type TurnContext } from "@codex/agent";
import type { Settings } from "@codex/config";
import type { AttachedExecutor } from "@codex/orchestrator";
import type { Workspace } from "./open-workspace.js";

/** What the context of a turn is made from. */
export interface ContextSources {
  readonly executor: AttachedExecutor;
  readonly settings: Settings;
  readonly workspace: Workspace;
  readonly developerInstructions: string | undefined;
}

/** What the model is told about its surroundings, as they are now. */
export function readContext({ executor, settings, workspace, developerInstructions }: ContextSources): TurnContext {
  const { sandbox, approvalPolicy } = settings;
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
    ...(sandbox.mode === undefined ? {} : { profile: sandbox.mode }),
    ...(error === undefined ? {} : { error }),
  };
  const sections = [
    ...(developerInstructions === undefined
      ? []
      : [{ role: "developer" as const, opening: developerInstructions, text: developerInstructions }]),
    describePermissions({
      sandboxMode: sandbox.mode ?? "read-only",
      networkAccess: sandbox.mode === "danger-full-access" || sandbox.networkAccess === true,
      approvalPolicy: approvals,
      writableRoots,
    }),
    describeSurroundings({ environments: [environment], date: today(), timezone: timezone() }),
  ];
  return { sections };
}

const today = (): string => {
  const now = new Date();
  const two = (value: number) => String(value).padStart(2, "0");
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
};

const timezone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;
