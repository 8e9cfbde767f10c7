import type { LiveOutput } from "@codex/executor-client";
import type { RunningCommand } from "@codex/executor-client/programs";
import type { ResourceLimits, TerminalSize } from "@codex/executor-protocol";
import type { RefusedCall } from "../result.js";

/** A program for a caller that acts for a model, judged like a call of `exec_command`. Either `argv` or `cmd`. */
export interface StartCommandRequest {
  /** Final argv, started without a shell. */
  argv?: readonly string[];
  /** A script for the shell that `exec_command` would use. */
  cmd?: string;
  /** For `cmd`: name or path; default the one of the host. */
  shell?: string;
  /** For `cmd`: as a login shell; default that of the orchestrator. */
  login?: boolean;
  /** Where it runs; default as for a call of `exec_command` without one. */
  environment?: string;
  /** Absolute, or relative to the directory of the turn. */
  cwd?: string;
  /** Added to the environment of commands. The program is judged, and shown to an approver, as `env NAME=value … program`. */
  env?: Readonly<Record<string, string>>;
  /** Default false: pipes, with separate stdout and stderr. */
  tty?: boolean;
  size?: TerminalSize;
  /** `open` keeps a pipe writable; no effect on a terminal. Default `null`: no input. */
  stdin?: "null" | "open";
  /** Time limit of the program, milliseconds. */
  timeoutMs?: number;
  /** What it may use; those of the policy hold where they are stricter. */
  limits?: ResourceLimits;
  sandboxPermissions?: "use_default" | "require_escalated";
  /** Why it should run outside the sandbox; shown to the approver. */
  justification?: string;
}

/** Whether a program was started, or why not. */
export type CommandStart =
  /** `sessionId`: as the tools of a model name it; absent for a program that has ended already. */
  | { kind: "started"; environment: string; sessionId?: number; notices: readonly string[] }
  /** The call was refused: by the policy, by the approver, for its arguments, or since the executor cannot be reached. */
  | { kind: "refused"; result: RefusedCall }
  /** The executor could not start the program, such as for a file that does not exist. `code`: the executor's, where it has one. */
  | { kind: "failed"; reason: string; code?: string }
  /** It was sent; whether it runs is unknown. */
  | { kind: "lost"; reason: string };

/**
 * A program that was judged. Input for a shell is judged line by line, like that of `write_stdin`; refused input is not written, and
 * the promise of that write rejects with an OrchestratorError `refused`.
 */
export interface StartedCommand extends RunningCommand {
  /** Resolves when the program runs or has ended, or when it will not run. Never rejects. */
  readonly started: Promise<CommandStart>;
  /**
   * Only stdout, or the output of a terminal, for a single loop. Before one of the loops has begun, 1 MiB is retained, and then the
   * program is paused; after that, and with `onOutput`, a stream without a loop retains its first 1 MiB and does not pause the
   * program. `offset` and `dropped` count all output.
   */
  readonly stdout: AsyncIterable<LiveOutput>;
  /** Only stderr; empty with a terminal. */
  readonly stderr: AsyncIterable<LiveOutput>;
}
