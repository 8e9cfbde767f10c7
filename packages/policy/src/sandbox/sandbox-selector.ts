import type { HostInfo, Sandbox, SandboxPermissions } from "@codex/executor-protocol";
import type { DeniedRead } from "./deny-read.js";

/** How to treat a command that needs a sandbox on an executor without one. */
export type WhenUnavailable = "refuse" | "ask";

/** Selects the sandbox of each command. */
export interface SandboxSelector {
  /** True when the selected sandboxes restrict nothing. */
  readonly unrestricted: boolean;
  /** Default `refuse`. */
  readonly whenUnavailable?: WhenUnavailable;
  /** The sandbox that an executor is to apply to one command; null for none. Pure. */
  select(command: SandboxedCommand): Sandbox | null | SandboxRefusal;
  /** What its sandboxes deny; with `ask`, a command that names one of these is not known to be safe. Default none. */
  deniedReads?(host: HostInfo | undefined): readonly DeniedRead[];
}

/** No sandbox is possible for the command: it does not run, and approval is not requested. */
export interface SandboxRefusal {
  /** Why, and what to do. */
  refused: string;
}

/** A command that a sandbox is selected for. */
export interface SandboxedCommand {
  environment: string;
  /** Host of the executor; undefined when it does not report it. */
  host: HostInfo | undefined;
  /** Where the command starts. */
  cwd: string;
  /** Absolute directories of the turn; undefined if none are specified. */
  workspaceRoots: readonly string[] | undefined;
  sandboxPermissions: SandboxPermissions;
  /** Normalized: `file_system.read`, `file_system.write` with absolute paths, `network.enabled`. */
  additionalPermissions: Readonly<Record<string, unknown>> | null;
  /** The policy or a person allowed it to run outside the sandbox. */
  bypassSandbox: boolean;
}
