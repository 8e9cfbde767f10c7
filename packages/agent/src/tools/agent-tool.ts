import type { CallDecision } from "@codex/orchestrator";
import type { ItemDetails } from "../events/thread-item.js";
import type { ToolOutput } from "../model/items.js";

/** A tool of the agent itself, beside those that executors advertise. */
export interface AgentTool {
  readonly spec: AgentToolSpec;
  /** It waits for the calls before it and holds back those after it. */
  readonly exclusive?: boolean;
  /**
   * Carries out a call. `args` is what the model sent, unchecked; of a `custom` call `{ input }` with its text. What it
   * throws is reported to the model.
   */
  call(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolAnswer>;
  /** Takes over a call of another tool, such as a patch inside `exec_command`; undefined leaves it alone. */
  intercept?(name: string, args: Readonly<Record<string, unknown>>): TakenCall | undefined;
  /** What is added to the answer of another tool's call, such as how that is done with this tool; undefined: nothing. */
  remark?(name: string, args: Readonly<Record<string, unknown>>, answer: string): string | undefined;
  /** What is known of a call that was under way when its process was killed. Carries nothing out. */
  recover?(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<string>;
}

/** How a tool is described to a model. */
export interface AgentToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON schema of the arguments in its function form; with a grammar `{ input: string }` is expected. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Lark grammar: it is offered as `custom` to models that take that. */
  readonly grammar?: string;
}

/** A call that another tool would have carried out. */
export interface TakenCall {
  readonly exclusive?: boolean;
  call(context: ToolContext): Promise<ToolAnswer>;
  /** As that of the tool. */
  recover?(context: ToolContext): Promise<string>;
}

/** What a call knows of its turn. */
export interface ToolContext {
  readonly callId: string;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
  /** Absolute directory of the turn in the environment; undefined: the environment's own. */
  readonly cwd: string | undefined;
  /** Environment that the call names, or the first; undefined when none is attached. */
  readonly environment: string | undefined;
  /** Shows the call as an item from now on; further calls change it. Without any it is shown as a plain tool call. */
  show(details: ItemDetails): void;
}

/** What a call came to. */
export interface ToolAnswer {
  /** For the model. */
  readonly output: ToolOutput;
  /** Default `completed`. `declined`: it was not allowed. */
  readonly status?: "completed" | "failed" | "declined";
  /** The item as it ends; default what was shown last. */
  readonly item?: ItemDetails;
  /** What decided whether the call is carried out; undefined where nothing had to be decided. */
  readonly decision?: CallDecision;
  /** A person ended the turn when asked about the call. */
  readonly endsTurn?: boolean;
}
