import type { ToolOutput } from "@codex/model";
import type { CallDecision } from "@codex/orchestrator";
import type { ItemDetails } from "../events/thread-item.js";

/** A tool of the agent itself, in addition to those of executors. */
export interface AgentTool {
  readonly spec: AgentToolSpec;
  /** Runs alone: after all earlier calls, before all later ones. */
  readonly exclusive?: boolean;
  /** Not offered in a turn without environments. Default false. */
  readonly needsEnvironment?: boolean;
  /**
   * Runs a call. `args` is unvalidated input of the model; for a `custom` call `{ input }` with its text. A thrown error is
   * reported to the model.
   */
  call(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<AgentToolResult>;
  /** Intercepts a call of another tool, such as a patch in `exec_command`; undefined: not intercepted. */
  intercept?(name: string, args: Readonly<Record<string, unknown>>): InterceptedCall | undefined;
  /** Text to append to the result of another tool's call, such as a hint to use this tool. */
  remark?(name: string, args: Readonly<Record<string, unknown>>, result: string): string | undefined;
  /**
   * Describes the outcome of a call that was running when the agent was killed; must have no side effects. `checkpoint`: the last one
   * that the call saved, as it is in the file of the thread and unvalidated; undefined when there is none.
   */
  recover?(args: Readonly<Record<string, unknown>>, context: ToolContext, checkpoint: unknown): Promise<string>;
}

/** Description of a tool for the model. */
export interface AgentToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments as a function; with a grammar it must be `{ input: string }`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Lark grammar; offered as `custom` tool to models that support that. */
  readonly grammar?: string;
}

/** A call intercepted from another tool. */
export interface InterceptedCall {
  readonly exclusive?: boolean;
  call(context: ToolContext): Promise<AgentToolResult>;
  /** See {@link AgentTool.recover}. */
  recover?(context: ToolContext, checkpoint: unknown): Promise<string>;
}

/** Context of a call. */
export interface ToolContext {
  readonly callId: string;
  /** Aborted when the turn is interrupted. */
  readonly signal: AbortSignal;
  /** Absolute working directory of the turn; undefined: the environment's default. */
  readonly cwd: string | undefined;
  /** Environment named by the call, or the default; undefined when none is attached. */
  readonly environment: string | undefined;
  /** The turn's directory in an environment (undefined: its own); undefined for one that calls of this turn may not use. */
  getSelected(environment: string): { cwd: string | undefined } | undefined;
  /** Shows the call as this item, and updates it when called again. Default: a generic tool call item. */
  show(details: ItemDetails): void;
  /**
   * Saves what `recover` needs if this process is killed during the call, as JSON in the thread; survives the end of this process
   * once it resolves. @throws ThreadWriteError when it cannot be saved
   */
  saveCheckpoint(checkpoint: object): Promise<void>;
}

/** Result of a call of an {@link AgentTool}. */
export interface AgentToolResult {
  /** Returned to the model. */
  readonly output: ToolOutput;
  /** Default `completed`. `declined`: not permitted. */
  readonly status?: "completed" | "failed" | "declined";
  /** Final item; default: the last one shown. */
  readonly item?: ItemDetails;
  /** The decision about the call; undefined when none was needed. */
  readonly decision?: CallDecision;
  /** The user ended the turn when asked for approval. */
  readonly endsTurn?: boolean;
}
