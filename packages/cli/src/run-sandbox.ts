import type { ConfigFlags, LoadedConfig } from "@codex/config";
import type { HostInfo, Sandbox, SandboxMode } from "@codex/executor-protocol";
import type { RunCommandRequest, SandboxDenial } from "@codex/orchestrator";
import { defined } from "@codex/values";
import { CommandError, EXIT } from "./exit-codes.js";

/** Where a program that a person started is to run. */
export interface RunPlace {
  /** Host of the executor; undefined when it does not report it. */
  host: HostInfo | undefined;
  /** Absolute, on the executor's host; undefined for the executor's own directory. */
  cwd: string | undefined;
  /** The executor is in this process. */
  isOwn: boolean;
}

/**
 * The sandbox of a mode or a permission profile for such a program, with the other settings as configured; empty for none. Without a mode there is
 * none; if the executor requires one, this fails before anything is started.
 * @throws CommandError, ConfigError
 */
export async function chooseRunSandbox(
  mode: SandboxMode | Pick<ConfigFlags, "permissionProfile" | "environmentProfile"> | undefined,
  { host, cwd, isOwn }: RunPlace,
): Promise<Pick<RunCommandRequest, "sandbox" | "network">> {
  if (mode === undefined || mode === "danger-full-access") {
    const demanded = findDemandedMode(host);
    if (demanded === undefined) return {};
    throw new CommandError(
      `the executor runs nothing without a sandbox: it allows at most ${demanded}; use --sandbox ${demanded}`,
      EXIT.notStarted,
    );
  }
  const directory = cwd ?? host?.cwd;
  if (directory === undefined) {
    throw new CommandError(
      "--sandbox: the executor does not support sandboxes, as it speaks the base messages only",
      EXIT.notStarted,
    );
  }
  // Loaded on demand: most runs need no configuration.
  const [{ openConfig }, { openSandbox }] = await Promise.all([
    import("./open-config.js"),
    import("./sandbox-selector.js"),
  ]);
  const flags = typeof mode === "string" ? { sandbox: mode } : mode;
  const config = await openConfig({ environmentProfile: undefined, ...flags }, isOwn ? directory : undefined);
  const chosen = openSandbox(config.settings.sandbox, isOwn).select({
    environment: "run",
    host,
    cwd: directory,
    workspaceRoots: cwd === undefined ? undefined : [cwd],
    sandboxPermissions: "use_default",
    additionalPermissions: null,
    bypassSandbox: false,
  });
  if (chosen !== null && "refused" in chosen) throw new CommandError(`--sandbox: ${chosen.refused}`, EXIT.notStarted);
  return await limitRunNetwork(chosen, config);
}

/** As the configuration says which hosts are reached. @throws CommandError where that cannot be held */
export async function limitRunNetwork(
  sandbox: Sandbox | null,
  config: LoadedConfig,
): Promise<Pick<RunCommandRequest, "sandbox" | "network">> {
  const { network } = config.settings;
  if (sandbox === null || network === undefined) return sandbox === null ? {} : { sandbox };
  const [{ limitNetwork }, { loadRules }] = await Promise.all([import("@codex/policy"), import("./rule-files.js")]);
  const limited = limitNetwork(sandbox, network, (await loadRules([], config)).networkRules);
  if ("refused" in limited) throw new CommandError(limited.refused, EXIT.notStarted);
  const { sandbox: closed, network: reached } = limited;
  return defined({ sandbox: closed ?? undefined, network: reached });
}

/** The widest mode that the ceiling of an executor permits; undefined when it requires no sandbox. */
function findDemandedMode(host: HostInfo | undefined): Exclude<SandboxMode, "danger-full-access"> | undefined {
  const ceiling = host?.sandbox?.ceiling;
  if (ceiling === undefined) return undefined;
  if (ceiling.mode !== "danger-full-access") return ceiling.mode;
  return ceiling.network ? undefined : "workspace-write";
}

/** Describes a denial for a person; a guess is marked as one. */
export const describeDenial = ({ certain, reason }: SandboxDenial): string =>
  certain ? reason : `${reason}; this is a guess from the program's output`;
