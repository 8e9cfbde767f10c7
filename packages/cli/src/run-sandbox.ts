import type { HostInfo, Sandbox, SandboxMode } from "@codex/executor-protocol";
import type { SandboxDenial } from "@codex/orchestrator";
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
 * The sandbox of a mode for such a program, with the other settings as configured; undefined for none. Without a mode there is
 * none; if the executor requires one, this fails before anything is started.
 * @throws CommandError, ConfigError
 */
export async function chooseRunSandbox(
  mode: SandboxMode | undefined,
  { host, cwd, isOwn }: RunPlace,
): Promise<Sandbox | undefined> {
  if (mode === undefined || mode === "danger-full-access") {
    const demanded = findDemandedMode(host);
    if (demanded === undefined) return undefined;
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
  const { settings } = await openConfig({ sandbox: mode }, isOwn ? directory : undefined);
  const chosen = openSandbox(settings.sandbox, isOwn).select({
    environment: "run",
    host,
    cwd: directory,
    workspaceRoots: cwd === undefined ? undefined : [cwd],
    sandboxPermissions: "use_default",
    additionalPermissions: null,
    bypassSandbox: false,
  });
  if (chosen !== null && "refused" in chosen) throw new CommandError(`--sandbox: ${chosen.refused}`, EXIT.notStarted);
  return chosen ?? undefined;
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
