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
  /** The number of the wrapper's first descriptor. Default 3. */
  firstDescriptor?: number;
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
  /** The wrapper must get them as descriptors 3, 4, …, or from `firstDescriptor` on. */
  descriptors: readonly number[];
  /** Programs that start before the command's own: the wrapper, and what gives the command its terminal. */
  wrappers: number;
  /** The longest path that another is, or is below, decides; without any it cannot be written. Undefined where it is not known. */
  access: readonly { readonly path: string; readonly isWritable: boolean }[] | undefined;
  /** What the wrapper reports about the program; undefined where the program replaces the wrapper. */
  status: WrapperStatus | undefined;
  /** What the sandbox denied the command, which has ended; see `findDenial`. */
  findDenial(ended: Omit<EndedCommand, "cwd">): SandboxDenial | undefined;
  /** Registers a function that ends the command; it is called once if the sandbox no longer holds: a protected path was replaced from outside, or the command created one. */
  onBroken?: ((end: () => void) => void) | undefined;
  /** Whether that happened, also when the command ended by itself before it could be ended; `findDenial` says what. Settled by `release`. */
  isBroken(): boolean;
  /** Placeholders on the host, at paths that must not be created until it is released. */
  reservedPaths: readonly string[];
  /** Names that nothing reserves and that must not be created; what is created there is moved aside, of a `rechecked` command by its caller. */
  freeNames: readonly FreeName[];
  /** Closes the descriptors here. Called after the spawn, successful or not: no other command is wrapped before that. Idempotent. */
  detach(): void;
  /** Frees what the sandbox needs, after its end; resolves when every process in it is gone. Idempotent. */
  release(): Promise<void>;
}

/**
 * A `.git` that must not appear while a sandbox runs, without a placeholder: every program would take an empty `.git` for the top of a
 * repository. What appears is moved aside, so that git does not find it.
 */
export interface FreeName {
  readonly path: string;
  /** What was created, and where it is now; undefined as long as nothing was. */
  readonly problem: string | undefined;
  /** Whether something has the name, or makes its directory a git directory. */
  isTaken(): boolean;
  /** Moves aside what is there. Returns what that was and where it is now; undefined if nothing was there. Never throws. */
  clear(): string | undefined;
  /** Idempotent. */
  close(): void;
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
