import type { ExecCommandRequest, HostInfo } from "@codex/executor-protocol";
import type { Config } from "../config.js";
import { readArguments } from "./arguments.js";
import { resolveDirectory } from "./directory.js";
import { resolveEnvironment } from "./environment.js";
import { execCommandArgumentsSchema } from "./model-arguments.js";
import { resolvePermissions } from "./permissions.js";
import type { Resolved } from "./resolved.js";
import { resolveArgv } from "./shell.js";
import { execWindow, outputBudget } from "./windows.js";

export interface ResolveContext {
  config: Config;
  /** Undefined for an executor that knows only the base messages. */
  host: HostInfo | undefined;
  /** The caller's directory for this turn. */
  turnCwd: string | undefined;
  /** A fresh unique id, for what must not happen twice. */
  newId: () => string;
}

/** A command as it will go on the wire, but for what policy adds. */
export interface ResolvedExec {
  request: Omit<ExecCommandRequest, "execApprovalRequirement">;
  /** The model's suggestion of a reusable approval. */
  prefixRule: string[] | undefined;
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
  const window = execWindow(asked.yield_time_ms, config.windows);
  const budget = outputBudget(asked.max_output_tokens, config);
  const request: ResolvedExec["request"] = {
    command: argv.value,
    cwd: cwd.value,
    ...resolveEnvironment(host !== undefined, config),
    tty: asked.tty ?? false,
    yieldTimeMs: window.value,
    maxOutputTokens: budget.value,
    ...permissions.value,
    additionalPermissionsPreapproved: false,
    justification: asked.justification ?? null,
    ...(host === undefined ? {} : { idempotencyKey: context.newId() }),
    ...(asked.stdin === undefined ? {} : { stdin: asked.stdin }),
    ...(asked.timeout_ms === undefined ? {} : { timeoutMs: asked.timeout_ms }),
  };
  const notices = [window.notice, budget.notice].filter((notice) => notice !== undefined);
  return { kind: "ok", value: { request, prefixRule: prefix_rule, notices } };
}
