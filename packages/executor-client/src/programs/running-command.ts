import type {
  ByteRange,
  ExecCommandRequest,
  ManagedNetwork,
  ProcessOutcome,
  ReachedLimit,
  Sandbox,
  SessionSignal,
  TerminalSize,
  UnifiedExecResult,
} from "@codex/executor-protocol";
import type { LiveOutput } from "../connection/live-output.js";

/** A program to be followed from its start to its end, for a person or a program rather than for a model. */
export interface RunCommandRequest {
  /** Final argv: no shell is put in front of it. */
  argv: readonly string[];
  /** Absolute directory on the executor's host; default the executor's own. */
  cwd?: string;
  /** The complete environment, or the overlay when `envPolicy` is given. */
  env: Readonly<Record<string, string>>;
  envPolicy?: ExecCommandRequest["envPolicy"];
  tty: boolean;
  size?: TerminalSize;
  /** `open` keeps a pipe writable; no effect on a terminal. */
  stdin?: "null" | "open";
  /** Its sandbox; default none. An executor that cannot apply it, or whose ceiling is below it, refuses the program. */
  sandbox?: Sandbox;
  /** What it reaches, instead of what its sandbox says of the network. An executor that cannot hold it refuses the program. */
  network?: ManagedNetwork;
  /** Ends the program, milliseconds. */
  timeoutMs?: number;
}

/** A program that runs. Calls are carried out in their order. */
export interface RunningCommand {
  /** Resolves when the executor has passed the bytes on: awaiting it gives a fast writer back-pressure. */
  write(bytes: Uint8Array): Promise<void>;
  /** @throws ExecutorConnectionError (of an orchestrator: OrchestratorError) `unsupported` if the host cannot, such as an exec-server of Codex 0.169.0; the program may then wait forever */
  closeStdin(): Promise<void>;
  resize(size: TerminalSize): Promise<void>;
  signal(name: SessionSignal): Promise<void>;
  /**
   * Live output for one loop, which ends with the program's output: from the first byte on, or with `onOutput` from the
   * first access to this property. A loop that has begun holds the program back, and so does output before a loop has
   * begun, until `ended` is awaited: then about 1 MiB is kept. Leaving the loop discards the rest. `dropped` of a piece
   * is the range that is missing before it; at the end of the output that piece has no bytes.
   */
  readonly output: AsyncIterable<LiveOutput>;
  /** How it ended; resolves after its last byte of output was delivered. Never rejects. */
  readonly ended: Promise<RunOutcome>;
}

/** `refused`: nothing was started; the reason is the executor's, and its code where it has one. `lost`: whether it still runs is unknown. */
export type RunOutcome =
  | {
      kind: "ended";
      outcome: ProcessOutcome;
      exitCode: number | undefined;
      timedOut?: true;
      denial?: SandboxDenial;
      /** Limits that it has reached, unless `outcome` names them. */
      reachedLimits?: readonly ReachedLimit[];
      /** Ranges of `dropped` whose size is not known but estimated. */
      estimated?: readonly ByteRange[];
    }
  | { kind: "refused"; reason: string; code?: string }
  | { kind: "lost"; reason: string };

/** What the sandbox denied to a program, in one sentence; not `certain` when that is guessed from its output. */
export type SandboxDenial = NonNullable<UnifiedExecResult["sandboxDenial"]>;
