import type { ContentPart, Item, Usage } from "@codex/model";
import type { EnvironmentSelection } from "@codex/orchestrator";
import type { AgentEvent, TurnEnd } from "./events/agent-event.js";
import type { ThreadRecorder } from "./history/thread-entry.js";

/** Id and storage of a thread. */
export interface ThreadOptions {
  /** Default: a new id. */
  readonly id?: string;
  /** Default: nothing is saved. */
  readonly recorder?: ThreadRecorder;
  /** Its session has begun before, in this process: hooks are not told again. Default false. */
  readonly begun?: boolean;
}

/** A thread read from storage. */
export interface SavedThread {
  readonly id: string;
  /** The history that was sent to the model. */
  readonly items: readonly Item[];
  readonly usage?: Usage;
  /** Total tokens of its last response. */
  readonly lastTokens?: number;
  /** The endpoint supports function tools only. Default false. */
  readonly functionsOnly?: boolean;
  /** Ids of calls that were started; undefined when not recorded. */
  readonly startedCalls?: ReadonlySet<string>;
  /** Checkpoints of calls without an output, for `recover` of their tool, by call id. */
  readonly checkpoints?: ReadonlyMap<string, unknown>;
}

/** A conversation. One turn runs at a time. */
export interface Thread {
  readonly id: string;
  /** The history that is sent to the model. */
  readonly items: readonly Item[];
  /** Sum over all turns. */
  readonly usage: Usage;
  /** Total tokens of its last response; 0 when unknown. */
  readonly lastTokens: number;
  /** Starts a turn. @throws Error while another turn runs, OrchestratorError `unknown_environment`; nothing changes then */
  run(prompt: string | readonly ContentPart[], options?: RunOptions): TurnRun;
  /** Starts a turn that only compacts the history. @throws Error while another turn runs */
  compact(options?: Pick<RunOptions, "signal" | "timeoutMs">): TurnRun;
  /** Tells hooks that no turn follows. @param reason default `other` */
  end(reason?: string): Promise<void>;
}

/** Options of one turn. */
export interface RunOptions {
  /** Interrupts the turn: pending calls are cancelled and marked as aborted in the history. */
  readonly signal?: AbortSignal;
  /**
   * Environments of this turn and later ones, the default first; `[]` disables them all. The default of the agent keeps its `cwd` and
   * `workspaceRoots`. Default: those of the previous turn.
   */
  readonly environments?: readonly EnvironmentSelection[];
  /** JSON schema of the final message; enforced by the endpoint. */
  readonly outputSchema?: unknown;
  /** Maximum number of model responses; the turn fails beyond it. Default no limit. */
  readonly maxResponses?: number;
  /** Milliseconds after which the turn fails; default no limit. */
  readonly timeoutMs?: number;
}

/**
 * A running turn. Its events can be iterated once; a slow consumer applies back-pressure to the turn, and leaving the loop
 * (`break`) interrupts it. When `result` is read before iteration starts, events are discarded.
 */
export interface TurnRun extends AsyncIterable<AgentEvent> {
  /** Never rejects: failures are reported in `end`. */
  readonly result: Promise<TurnResult>;
}

/** Result of a turn. */
export interface TurnResult {
  readonly end: TurnEnd;
  /** The model's last message in this turn; empty when there is none. */
  readonly finalMessage: string;
}
