import type { HostInfo, Sandbox, SandboxPermissions } from "@codex/executor-protocol";
import type { DeniedRead } from "./deny-read.js";

/** What becomes of a command that is to run in a sandbox, on an executor that has none. */
export type WhenUnavailable = "refuse" | "ask";

export interface SandboxSelector {
  /** True when what is selected holds nothing back. */
  readonly unrestricted: boolean;
  /** Default `refuse`. */
  readonly whenUnavailable?: WhenUnavailable;
  /** The sandbox an executor is handed for one command; null for none. Pure. */
  select(command: SandboxedCommand): Sandbox | null | SandboxRefusal;
  /** What its sandboxes close; with `ask`, a command that names it is not known to be safe. Default nothing. */
  deniedReads?(host: HostInfo | undefined): readonly DeniedRead[];
}

/** No sandbox fits the command: it does not run, and nobody is asked. */
export interface SandboxRefusal {
  /** Why, and what to do. */
  refused: string;
}

export interface SandboxedCommand {
  environment: string;
  /** Of the executor; undefined when it does not tell. */
  host: HostInfo | undefined;
  /** Where the command starts. */
  cwd: string;
  /** Absolute directories of the turn; undefined when nobody named any. */
  workspaceRoots: readonly string[] | undefined;
  sandboxPermissions: SandboxPermissions;
  /** Normalized: `file_system.read`, `file_system.write` with absolute paths, `network.enabled`. */
  additionalPermissions: Readonly<Record<string, unknown>> | null;
  /** Policy or a person let it run outside. */
  bypassSandbox: boolean;
}
