import { homedir, userInfo } from "node:os";
import { basename, resolve } from "node:path";
import type { ConfigFlags } from "@codex/config";
import { formatProblem, type HostInfo, PARSE_CONTEXT, type Sandbox, sandboxSchema } from "@codex/executor-protocol";
import type { RunCommandRequest } from "@codex/orchestrator";
import { findMovedPaths } from "@codex/permissions";
import { readNamedFileSync } from "@codex/plain-file";
import { messageOf } from "@codex/values";
import { safeParse } from "zod/mini";
import { CommandError, EXIT } from "./exit-codes.js";
import { openConfig } from "./open-config.js";
import { limitRunNetwork } from "./run-sandbox.js";
import { openSandbox } from "./sandbox-selector.js";

export interface TrialOptions extends ConfigFlags {
  writableRoot: string[];
  network: boolean;
  deny: string[];
  profileJson?: string;
}

/**
 * The sandbox that a command in a directory of this host gets, by flags over the configuration; empty for none.
 * @throws CommandError, ConfigError
 */
export async function chooseTrialSandbox(
  cwd: string,
  options: TrialOptions,
): Promise<Pick<RunCommandRequest, "sandbox" | "network">> {
  if (options.profileJson !== undefined) return { sandbox: readProfile(options.profileJson, cwd, options) };
  const config = await openConfig(options, cwd);
  const { sandbox: settings } = config.settings;
  const { mode } = settings;
  const { writableRoot, network, deny } = options;
  if (mode !== "workspace-write" && (network || writableRoot.length > 0)) {
    const flag = network ? "--network" : "--writable-root";
    throw new CommandError(`${flag} needs mode workspace-write; the mode is ${mode}`, EXIT.usage);
  }
  const selector = openSandbox(
    {
      ...settings,
      mode,
      writableRoots: [...(settings.writableRoots ?? []), ...writableRoot.map((root) => resolve(root))],
      networkAccess: network || settings.networkAccess === true,
      denyRead: [...(settings.denyRead ?? []), ...deny.map((one) => (one.startsWith("~") ? one : resolve(cwd, one)))],
    },
    true,
  );
  const selected = selector.select({
    environment: "sandbox",
    host: describeHost(cwd),
    cwd,
    workspaceRoots: [cwd],
    sandboxPermissions: "use_default",
    additionalPermissions: null,
    bypassSandbox: false,
  });
  if (selected !== null && "refused" in selected) throw new CommandError(selected.refused);
  return await limitRunNetwork(selected, config);
}

/** A `sandbox` in the form that is sent to an executor; directories default to the one where the program starts. */
function readProfile(file: string, cwd: string, { sandbox, writableRoot, network, deny }: TrialOptions): Sandbox {
  if (sandbox !== undefined || writableRoot.length > 0 || network || deny.length > 0) {
    throw new CommandError("--profile-json is the complete sandbox: it excludes the other sandbox options", EXIT.usage);
  }
  let value: unknown;
  try {
    value = JSON.parse(readNamedFileSync(file, { maxBytes: MAX_PROFILE_BYTES }).toString());
  } catch (cause) {
    const detail = messageOf(cause);
    throw new CommandError(`--profile-json ${JSON.stringify(file)}: ${detail}`, EXIT.usage, { cause });
  }
  const parsed = safeParse(sandboxSchema, value, PARSE_CONTEXT);
  if (!parsed.success) {
    throw new CommandError(`--profile-json ${JSON.stringify(file)}: ${formatProblem(parsed.error, value)}`, EXIT.usage);
  }
  return { cwd, workspaceRoots: [cwd], ...parsed.data };
}

/** Largest file of `--profile-json`, bytes. */
const MAX_PROFILE_BYTES = 1024 * 1024;

/** Describes this host, without its sandbox. */
export function describeHost(cwd: string): HostInfo {
  const path = process.env.SHELL ?? "/bin/sh";
  const shell = { name: basename(path), path };
  const { platform: os, arch } = process;
  const movedPaths = findMovedPaths(process.env);
  const host = { os, arch, shell, cwd, home: homedir(), user: userInfo().username };
  return movedPaths === undefined ? host : { ...host, movedPaths };
}
