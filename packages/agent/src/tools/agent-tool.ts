import type { CallDecision } from "@codex/orchestrator";
import type { ItemDetails } from "../events/thread-item.js";
import type { ToolOutput } from "../model/items.js";

/** A tool of the agent itself, in addition to those that executors advertise. */
export interface AgentTool {
  readonly spec: AgentToolSpec;
  /** Its calls run alone: after all earlier calls, and before all later ones. */
  readonly exclusive?: boolean;
  /**
   * Runs a call. `args` are the model's arguments, not validated; for a `custom` call `{ input }` with its text. A thrown error
   * is reported to the model.
   */
  call(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<AgentToolResult>;
  /** Takes over a call of another tool, such as a patch inside `exec_command`; undefined leaves it alone. */
  intercept?(name: string, args: Readonly<Record<string, unknown>>): InterceptedCall | undefined;
  /** What is added to the answer of another tool's call, such as how that is done with this tool; undefined: nothing. */
  remark?(name: string, args: Readonly<Record<string, unknown>>, answer: string): string | undefined;
  /** Describes the outcome of a call that was in progress when its process was killed, without running anything. */
  recover?(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<string>;
}

/** The description of a tool for a model. */
export interface AgentToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments as a function; with a grammar it must be `{ input: string }`. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Lark grammar, for models that support `custom` tools. */
  readonly grammar?: string;
}

/** A call that was taken over from another tool. */
export interface InterceptedCall {
  readonly exclusive?: boolean;
  call(context: ToolContext): Promise<AgentToolResult>;
  /** As `AgentTool.recover`. */
  recover?(context: ToolContext): Promise<string>;
}

/** The context of a call in its turn. */
export interface ToolContext {
  readonly callId: string;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
  /** Absolute directory of the turn in the environment; undefined: the environment's own. */
  readonly cwd: string | undefined;
  /** Environment that the call names, or the first; undefined when none is attached. */
  readonly environment: string | undefined;
  /** Shows the call as an item with these details; later calls update it. By default it is shown as a plain tool call. */
  show(details: ItemDetails): void;
}

/** The result of a call. */
export interface AgentToolResult {
  /** For the model. */
  readonly output: ToolOutput;
  /** Default `completed`. `declined`: it was not allowed. */
  readonly status?: "completed" | "failed" | "declined";
  /** The final details of the item; default those shown last. */
  readonly item?: ItemDetails;
  /** The decision that allowed or declined the call; undefined if none was needed. */
  readonly decision?: CallDecision;
  /** A person ended the turn when asked about the call. */
  readonly endsTurn?: boolean;
}
