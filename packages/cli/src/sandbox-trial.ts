import { homedir, userInfo } from "node:os";
import { basename, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { ConfigFlags } from "@codex/config";
import { formatProblem, type HostInfo, PARSE_CONTEXT, type Sandbox, sandboxSchema } from "@codex/executor-protocol";
import type { RunCommandRequest } from "@codex/orchestrator";
import { findMovedPaths } from "@codex/permissions";
import { readNamedFileSync } from "@codex/plain-file";
import { messageOf } from "@codex/values";
import { boolean, nullable, optional, safeParse, strictObject, string } from "zod/mini";
import { CommandError, EXIT } from "./exit-codes.js";
import { openConfig } from "./open-config.js";
import { limitRunNetwork } from "./run-sandbox.js";
import { openSandbox } from "./sandbox-selector.js";

export interface TrialOptions extends ConfigFlags {
  writableRoot: string[];
  network: boolean;
  deny: string[];
  profileJson?: string;
  /** What Codex tells its MCP servers of its sandbox, JSON. */
  sandboxStateJson?: string;
  sandboxStateReadableRoot?: readonly string[];
  sandboxStateDisableNetwork?: boolean;
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
function readProfile(file: string, cwd: string, options: TrialOptions): Sandbox {
  refuseOthers("--profile-json", options);
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

function refuseOthers(option: string, options: TrialOptions): void {
  const { sandbox, permissionProfile, writableRoot, network, deny } = options;
  const chosen = sandbox ?? permissionProfile;
  if (chosen !== undefined || writableRoot.length > 0 || network || deny.length > 0) {
    throw new CommandError(`${option} is the complete sandbox: it excludes the other sandbox options`, EXIT.usage);
  }
}

/** As Codex 0.169.0 sends it to MCP servers (`codex/sandbox-state-meta`), for them to run programs in the sandbox of a call. */
const stateSchema = strictObject({
  permissionProfile: sandboxSchema.shape.permissions,
  /** A file URL. */
  sandboxCwd: string(),
  // How Codex builds the sandbox, which is built here in another way.
  codexLinuxSandboxExe: optional(nullable(string())),
  useLegacyLandlock: optional(boolean()),
  useMxc: optional(boolean()),
});

/**
 * The sandbox of `--sandbox-state-json`, and the directory it is for. A member that is not known may restrict, and is refused.
 * @throws CommandError
 */
export function readSandboxState(text: string, options: TrialOptions): { sandbox: Sandbox; cwd: string } {
  refuseOthers("--sandbox-state-json", options);
  const fail = (detail: string, cause?: unknown) =>
    new CommandError(`--sandbox-state-json: ${detail}`, EXIT.usage, { cause });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw fail(messageOf(cause), cause);
  }
  const parsed = safeParse(stateSchema, value, PARSE_CONTEXT);
  if (!parsed.success) throw fail(formatProblem(parsed.error, value));
  const { permissionProfile, sandboxCwd } = parsed.data;
  if (!URL.canParse(sandboxCwd) || !sandboxCwd.startsWith("file:///")) throw fail("`sandboxCwd`: expected a file URL");
  const cwd = fileURLToPath(sandboxCwd);
  return { cwd, sandbox: { permissions: adapt(permissionProfile, cwd, options), cwd, workspaceRoots: [cwd] } };
}

/** With what the other flags of a state add and take away. */
function adapt(
  permissions: Sandbox["permissions"],
  cwd: string,
  { sandboxStateReadableRoot: roots = [], sandboxStateDisableNetwork = false }: TrialOptions,
): Sandbox["permissions"] {
  if (permissions.type === "disabled") {
    if (!sandboxStateDisableNetwork) return permissions;
    return { type: "managed", file_system: { type: "unrestricted" }, network: "restricted" };
  }
  const network = sandboxStateDisableNetwork ? "restricted" : permissions.network;
  if (permissions.type === "external" || permissions.file_system.type === "unrestricted") {
    return { ...permissions, network };
  }
  const entries = roots.map((root) => ({
    path: { type: "path" as const, path: resolve(cwd, root) },
    access: "read" as const,
  }));
  const { file_system: files } = permissions;
  return { ...permissions, network, file_system: { ...files, entries: [...files.entries, ...entries] } };
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
