import type { NetworkDenial, ProcessOutcome, ProgramReport } from "@codex/executor-protocol";
import type { CallDecision } from "@codex/orchestrator";

/** `declined`: refused by policy or a person; nothing was run. */
export type ItemStatus = "in_progress" | "completed" | "failed" | "declined";

/** An item of a conversation for views; `id` is `item_0`, `item_1` … within a thread. */
export type ThreadItem = { readonly id: string; readonly status: ItemStatus } & ItemDetails;

/** How a call was decided; undefined when no decision was needed or it is pending. */
interface DecisionDetails {
  readonly decidedBy?: CallDecision["by"];
  /** The rules that match the call, joined by `; `. */
  readonly rule?: string;
}

/** Content of an item, by kind. */
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

/** A message of the model; `refusal`: the model declined the request. */
export interface MessageDetails {
  readonly kind: "message";
  readonly text: string;
  readonly refusal?: boolean;
}

/** Reasoning text of the model. */
export interface ReasoningDetails {
  readonly kind: "reasoning";
  readonly text: string;
}

/** A command on an executor, from start to end, possibly over several calls. */
export interface CommandDetails extends DecisionDetails {
  readonly kind: "command";
  readonly callId: string;
  /** As requested by the model. */
  readonly command: string;
  /** Including the shell invocation when known; otherwise `command`. */
  readonly shownCommand: string;
  readonly cwd: string | undefined;
  readonly environment: string | undefined;
  /** Decoded text in order of arrival; when too long, a note replaces the middle. */
  readonly output: string;
  /** Bytes of the session's output so far. */
  readonly outputBytes: number;
  /** Undefined while running, and when it never ran. */
  readonly exitCode: number | undefined;
  readonly outcome: ProcessOutcome | undefined;
  /** Session id, while it runs. */
  readonly sessionId?: number;
  /** Why it was not run. */
  readonly decision?: { readonly kind: "forbidden" | "denied" | "cancelled" | "error"; readonly reason: string };
  /** Programs that it did not start, or not as a rule says. Absent if there are none. */
  readonly programs?: readonly ProgramReport[];
  /** Hosts that its managed network did not let it to. */
  readonly deniedHosts?: readonly NetworkDenial[];
  /** The sandbox denied an access; `certain` is false when inferred from the output. */
  readonly sandboxDenial?: { readonly certain: boolean; readonly reason: string };
}

/** Files that a patch changes. */
export interface FileChangeDetails extends DecisionDetails {
  readonly kind: "file_change";
  /** Absolute paths. */
  readonly changes: readonly FileChange[];
  readonly environment: string | undefined;
}

/** A change of one file; `diff` is a unified diff when known. */
export interface FileChange {
  readonly path: string;
  readonly change: "add" | "delete" | "update";
  readonly movedFrom?: string;
  readonly diff?: string;
}

/** The model's plan; one item per turn. */
export interface PlanDetails {
  readonly kind: "plan";
  readonly steps: readonly PlanStep[];
}

/** A step of the plan. */
export interface PlanStep {
  readonly text: string;
  readonly status: "pending" | "in_progress" | "completed";
}

/** An image that the model viewed. */
export interface ImageDetails {
  readonly kind: "image";
  readonly path: string;
  readonly environment: string | undefined;
}

/** A call of any other tool. */
export interface ToolCallDetails extends DecisionDetails {
  readonly kind: "tool_call";
  readonly callId: string;
  readonly name: string;
  /** JSON text as the model sent it, or the text of a custom call. */
  readonly input: string;
  /** Text returned to the model, once available. */
  readonly output?: string;
  /** Content parts of an MCP tool result. */
  readonly content?: readonly unknown[];
  readonly structuredContent?: unknown;
  readonly environment: string | undefined;
}

/** The history was replaced by a summary. */
export interface CompactionDetails {
  readonly kind: "compaction";
  /** Tokens before compaction, as counted by the endpoint. */
  readonly tokensBefore: number;
  readonly summary: string;
}

/** A warning for the user; the turn continues. */
export interface WarningDetails {
  readonly kind: "warning";
  readonly message: string;
}
