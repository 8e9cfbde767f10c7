import type { ProcessOutcome } from "@codex/executor-protocol";
import type { CallDecision } from "@codex/orchestrator";

/** `declined`: policy or a person refused it, and nothing was run. */
export type ItemStatus = "in_progress" | "completed" | "failed" | "declined";

/** A piece of the conversation as it is shown: `id` is `item_0`, `item_1` … within a thread. */
export type ThreadItem = { readonly id: string; readonly status: ItemStatus } & ItemDetails;

/** What decided about a call; undefined where nothing had to be decided, or not yet. */
interface Decided {
  readonly decidedBy?: CallDecision["by"];
  /** The rules that match the call, joined by `; `. */
  readonly rule?: string;
}

/** What a piece of the conversation is. */
export type ItemDetails =
  | MessageDetails
  | ReasoningDetails
  | CommandDetails
  | FileChangeDetails
  | PlanDetails
  | ImageDetails
  | ToolCallDetails
  | CompactionDetails
  | WarningDetails;

/** Something that the model said; `refusal`: it said that it will not do what it was asked. */
export interface MessageDetails {
  readonly kind: "message";
  readonly text: string;
  readonly refusal?: boolean;
}

/** What the model tells of its thinking. */
export interface ReasoningDetails {
  readonly kind: "reasoning";
  readonly text: string;
}

/** A command on an executor, from its start to its end, also over several calls. */
export interface CommandDetails extends Decided {
  readonly kind: "command";
  readonly callId: string;
  /** What the model asked for. */
  readonly command: string;
  /** With the shell around it, as far as that is known; else `command`. */
  readonly shownCommand: string;
  readonly cwd: string | undefined;
  readonly environment: string | undefined;
  /** As text, in the order of arrival; what is over the limit is cut from its middle, and said there. */
  readonly output: string;
  /** Bytes of the session's output so far. */
  readonly outputBytes: number;
  /** Undefined while it runs, and when it never did. */
  readonly exitCode: number | undefined;
  readonly outcome: ProcessOutcome | undefined;
  /** Under which it can be read and ended while it runs. */
  readonly sessionId?: number;
  /** Why it was not run, or not as it was asked. */
  readonly decision?: { readonly kind: "forbidden" | "denied" | "cancelled" | "error"; readonly reason: string };
  /** The sandbox refused something, for certain or by the look of its output. */
  readonly sandboxDenial?: { readonly certain: boolean; readonly reason: string };
}

/** Files that a patch changes. */
export interface FileChangeDetails extends Decided {
  readonly kind: "file_change";
  /** Absolute paths. */
  readonly changes: readonly FileChange[];
  readonly environment: string | undefined;
}

/** A change of one file; `diff` is unified, where it is known. */
export interface FileChange {
  readonly path: string;
  readonly change: "add" | "delete" | "update";
  readonly movedFrom?: string;
  readonly diff?: string;
}

/** The model's plan; one item for a turn. */
export interface PlanDetails {
  readonly kind: "plan";
  readonly steps: readonly PlanStep[];
}

/** A step of the plan. */
export interface PlanStep {
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** An image that the model looked at. */
export interface ImageDetails {
  readonly kind: "image";
  readonly path: string;
  readonly environment: string | undefined;
}

/** A call of any other tool. */
export interface ToolCallDetails extends Decided {
  readonly kind: "tool_call";
  readonly callId: string;
  readonly name: string;
  /** JSON text as the model sent it, or the text of a custom call. */
  readonly input: string;
  /** For the model, once it is there. */
  readonly output?: string;
  /** Parts of its result, where these are more than text: as a tool of MCP answered them. */
  readonly content?: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly environment: string | undefined;
}

/** The history was replaced by a summary of itself. */
export interface CompactionDetails {
  readonly kind: "compaction";
  /** Tokens of the history before, as the endpoint counted them. */
  readonly tokensBefore: number;
  readonly summary: string;
}

/** Something that the user should know, and that ends nothing. */
export interface WarningDetails {
  readonly kind: "warning";
  readonly message: string;
}
