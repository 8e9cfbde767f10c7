import type { SandboxDenial, SandboxType } from "@codex/exec-backend";

import type { EndedCommand } from "./find-denial.js";

/** A command as it would run without a sandbox. */
export interface SandboxableCommand {
  /** Program and arguments. */
  argv: readonly string[];
  /** Absolute path of the program, which must be visible in the sandbox. */
  file: string;
  /** argv[0] as the program sees it, when it differs. */
  arg0?: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /**
   * `new`: a session of its own without a terminal. `terminal`: one whose controlling terminal becomes the terminal at stdin,
   * which must not control another session. `keep`: the session of its parent, with its terminal; a Ctrl-C there ends the
   * whole sandbox.
   */
  session: "new" | "terminal" | "keep";
  /** Paths are resolved again before each use, so it need not guard against replacement while it runs. Default false. */
  rechecked?: boolean;
}

/** What to spawn instead of a command. */
export interface WrappedCommand {
  type: SandboxType;
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The wrapper must get them as descriptors 3, 4, … */
  descriptors: readonly number[];
  /** What the wrapper reports about the program; undefined where the program replaces the wrapper. */
  status: WrapperStatus | undefined;
  /** What the sandbox denied the command, which has ended; see `findDenial`. */
  findDenial(ended: Omit<EndedCommand, "cwd">): SandboxDenial | undefined;
  /** Registers a function that ends the command; it is called once if the sandbox is broken because a protected path was replaced from outside. */
  onBroken?: ((end: () => void) => void) | undefined;
  /** Placeholders on the host, at paths that must not be created until it is released. */
  reservedPaths: readonly string[];
  /** Closes the descriptors here. Called after the spawn, successful or not: no other command is wrapped before that. Idempotent. */
  detach(): void;
  /** Frees what the sandbox needs, after its end; resolves when every process in it is gone. Idempotent. */
  release(): Promise<void>;
}

/** What bubblewrap reports about a sandbox while it runs. */
export interface WrapperStatus {
  /** Init process of the sandbox, by its pid on the host; undefined until it exists. */
  readonly init: number | undefined;
  /** Resolves with that pid, or with undefined if the wrapper ended before that. Never rejects. */
  readonly started: Promise<number | undefined>;
  /** Exit code of the program, 128 + the number for a death by signal; undefined when it was never started. */
  readonly exitCode: number | undefined;
  /** Resolves when the wrapper has ended: nothing more will be reported. Never rejects. */
  readonly ended: Promise<void>;
}
