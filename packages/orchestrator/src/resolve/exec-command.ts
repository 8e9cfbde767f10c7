import { type ExecCommandRequest, type HostInfo, strictest } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import type { Config } from "../config.js";
import { readArguments } from "./arguments.js";
import { pathsOf, resolveDirectory } from "./directory.js";
import { resolveEnvironment } from "./environment.js";
import { execCommandArgumentsSchema } from "./model-arguments.js";
import { resolvePermissions } from "./permissions.js";
import { type Resolved, rejected } from "./resolved.js";
import { resolveArgv } from "./shell.js";
import { describeUnknownFields } from "./unknown-fields.js";
import { execWindow, outputBudget } from "./windows.js";

export interface ResolveContext {
  config: Config;
  /** Undefined for an executor that supports only the base messages. */
  host: HostInfo | undefined;
  /** The caller's directory for this turn. */
  turnCwd: string | undefined;
  /** The caller's workspace for this turn; default: its directory. */
  workspaceRoots: readonly string[] | undefined;
  /** Identify the call for the command. */
  variables?: Readonly<Record<string, string>> | undefined;
  /** Whether the executor holds limits of what a command uses. */
  takesLimits: boolean;
}

/** A command as it will be sent, without the members that the policy adds. */
export interface ResolvedExec {
  request: Omit<ExecCommandRequest, "execApprovalRequirement">;
  /** The host for which it was resolved. */
  host: HostInfo | undefined;
  /** Absolute directories of the turn, independent of the command's directory; undefined if none are specified. */
  workspaceRoots: readonly string[] | undefined;
  /** The model's suggestion of a reusable approval. */
  prefixRule: string[] | undefined;
  /** The permission profile that the model asks for, instead of that of the policy. */
  permissionProfile?: string | undefined;
  notices: string[];
}

export function resolveExecCommand(args: Record<string, unknown>, context: ResolveContext): Resolved<ResolvedExec> {
  const { config, host, turnCwd } = context;
  const read = readArguments(execCommandArgumentsSchema, args);
  if (read.kind === "rejected") return read;
  const { workdir, shell, login, prefix_rule, ...asked } = read.value;
  const cwd = resolveDirectory({ workdir, turnCwd, defaultCwd: config.cwd, host });
  if (cwd.kind === "rejected") return cwd;
  const argv = resolveArgv(asked.cmd, { shell, login }, host, config);
  if (argv.kind === "rejected") return argv;
  const permissions = resolvePermissions(read.value, cwd.value, host, config);
  if (permissions.kind === "rejected") return permissions;
  const limits = strictest(config.resourceLimits, asked.limits ?? {});
  const isLimited = Object.keys(limits).length > 0;
  if (isLimited && !context.takesLimits)
    return rejected("limits", "this executor cannot hold limits of what a command uses; the command was not run");
  const window = execWindow(asked.yield_time_ms, config.windows);
  const budget = outputBudget(asked.max_output_tokens, config);
  const request: ResolvedExec["request"] = {
    command: argv.value,
    cwd: cwd.value,
    ...resolveEnvironment(host !== undefined, config, context.variables),
    tty: asked.tty ?? false,
    yieldTimeMs: window.value,
    maxOutputTokens: budget.value,
    ...permissions.value,
    additionalPermissionsPreapproved: false,
    justification: asked.justification ?? null,
    ...(host !== undefined && config.shellSnapshot && argv.value[1] === "-lc" ? { shellSnapshot: true } : {}),
    ...(host === undefined || config.whenFull === undefined ? {} : { whenFull: config.whenFull }),
    ...(isLimited ? { limits } : {}),
    ...defined({ stdin: asked.stdin, timeoutMs: asked.timeout_ms, until: asked.until }),
  };
  const notices = [
    ...describeUnknownFields(args, Object.keys(execCommandArgumentsSchema.shape)),
    ...[window.notice, budget.notice].filter((notice) => notice !== undefined),
  ];
  const workspace = resolveWorkspace(context);
  if (workspace.kind === "rejected") return workspace;
  const { permission_profile: permissionProfile } = read.value;
  return {
    kind: "ok",
    value: { request, host, workspaceRoots: workspace.value, prefixRule: prefix_rule, permissionProfile, notices },
  };
}

function resolveWorkspace({ config, host, turnCwd, workspaceRoots }: ResolveContext): Resolved<string[] | undefined> {
  const own = turnCwd ?? config.cwd;
  const roots = workspaceRoots ?? (own === undefined ? undefined : [own]);
  const path = pathsOf(host);
  const relative = roots?.find((root) => !path.isAbsolute(root));
  if (relative !== undefined) return rejected("workspaceRoots", `\`${relative}\` is not absolute`);
  return { kind: "ok", value: roots?.map((root) => withoutSlash(path.normalize(root))) };
}

const withoutSlash = (path: string): string => (path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path);
