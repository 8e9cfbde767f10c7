import type { SandboxDenial, SandboxType } from "@codex/exec-backend";

import type { EndedCommand } from "./find-denial.js";

/** A command as it would run without a sandbox. */
export interface SandboxableCommand {
  /** Program and arguments. */
  argv: readonly string[];
  /** Absolute path of the program; it must be visible in the sandbox. */
  file: string;
  /** argv[0] as the program sees it, when it differs. */
  arg0?: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /**
   * `new`: a session of its own without a terminal. `terminal`: one that takes the terminal at stdin, which nobody controls
   * yet. `keep`: stays with its starter and shares its terminal; a Ctrl-C there ends the whole sandbox.
   */
  session: "new" | "terminal" | "keep";
  /** Its paths are resolved again before each use: it need not hold what is replaced while it runs. Default false. */
  rechecked?: boolean;
}

/** What to spawn instead of a command. */
export interface WrappedCommand {
  type: SandboxType;
  file: string;
  args: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** To be given to it as descriptors 3, 4, … */
  descriptors: readonly number[];
  /** Where the wrapper stays in front of the program and tells of it; undefined where the program takes its place. */
  status: WrapperStatus | undefined;
  /** What it refused a command that has ended; see `findDenial`. */
  findDenial(ended: Omit<EndedCommand, "cwd">): SandboxDenial | undefined;
  /** Called once if the sandbox does not hold any more, because a closed path was replaced outside: the command is to be ended. */
  onBroken?: ((end: () => void) => void) | undefined;
  /** Placeholders on the host, at paths that must not be created until it is released. */
  reservedPaths: readonly string[];
  /** Closes the descriptors here. Called after the spawn, successful or not. Idempotent. */
  detach(): void;
  /** Gives back what keeps the sandbox closed; resolves when every process in it is gone. Called at its end. Idempotent. */
  release(): Promise<void>;
}

/** What bubblewrap tells of a sandbox while it runs. */
export interface WrapperStatus {
  /** First process of the sandbox, by its number on the host; undefined as long as it does not exist. */
  readonly init: number | undefined;
  /** Resolves with that number once it is told, or undefined when the wrapper has ended before. */
  readonly started: Promise<number | undefined>;
  /** Exit code of the program, 128 + the number for a death by signal; undefined when it was never started. */
  readonly exitCode: number | undefined;
  /** Resolves when nothing more will be told: the wrapper has ended. */
  readonly ended: Promise<void>;
}
