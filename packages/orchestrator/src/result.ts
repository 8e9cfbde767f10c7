import type { DecidedBy } from "@codex/audit";
import {
  type ProcessOutcome,
  STANDARD_TOOLS,
  type StandardToolName,
  type StandardToolResults,
  type UnifiedExecResult,
} from "@codex/executor-protocol";

/** The result of a tool call: text for the model, and structured data for programs. */
export type ToolCallResult<Structured = AnyStructured> = AnsweredCall<Structured> | RefusedCall | LostCall;

/** The structured result of a tool whose name is not known at compile time. */
export type AnyStructured = UnifiedExecResult | Record<string, unknown>;

/** The structured result of a tool by its name, if it is known at compile time. */
export type StructuredOf<Name extends string> = string extends Name
  ? AnyStructured
  : Name extends StandardToolName
    ? ToolResults[Name]
    : Record<string, unknown>;

/** The structured results of the standard tools, by name. */
export interface ToolResults extends StandardToolResults {
  exec_command: CommandResult;
}

/** The structured result of `exec_command`. */
export interface CommandResult extends UnifiedExecResult {
  /** After a second run outside a sandbox: the result of the first one. */
  firstRun?: UnifiedExecResult;
}

/** The result of a tool whose name is known at run time only: `tool` tells what `result.structured` is. */
export type NamedToolResult =
  | { [Name in StandardToolName]: { tool: Name; result: ToolCallResult<ToolResults[Name]> } }[StandardToolName]
  | { tool: "other"; name: string; result: ToolCallResult<Record<string, unknown>> };

/** Adds the name of a tool to its result. */
export function nameResult(name: string, result: ToolCallResult): NamedToolResult {
  const named = Object.hasOwn(STANDARD_TOOLS, name) ? { tool: name, result } : { tool: "other", name, result };
  // The structured results of these tools were checked when they were received.
  return named as NamedToolResult;
}

/** The environment of a call. */
interface Located {
  /** Name of the environment; undefined when none was selected, so that nothing was run. */
  environment?: string;
}

/** The executor responded. A command that exits with a code other than 0 is a success of the tool. */
export interface AnsweredCall<Structured = AnyStructured> extends Located {
  /** `interrupted`: the caller's signal ended the wait; a session that still runs has its id in the text. */
  status: "success" | "interrupted";
  isError: false;
  text: string;
  /** Pictures for the model, in addition to the text. */
  images?: readonly ResultImage[];
  /** The part of the text that is output of the program; only for a unified-exec tool. */
  output?: string;
  /**
   * A unified-exec result with the model's session id as `processId`, the structured result of another tool, or undefined
   * if the executor returned none that is consistent.
   */
  structured: Structured | undefined;
}

/** A picture in a result. */
export interface ResultImage {
  /** Such as `image/png`. */
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** Nothing was run, or the tool itself failed, or the turn ends: what ran before that is in the text. */
export interface RefusedCall extends Located {
  /**
   * `forbidden`: the policy refuses. `denied`: approval was asked for and not given. `cancelled`: the user ended the
   * turn. `interrupted`: the caller's signal came before anything was sent. `error`: everything else.
   */
  status: "error" | "forbidden" | "denied" | "cancelled" | "interrupted";
  isError: true;
  text: string;
  structured: Refusal;
}

/** Why a call was not carried out, for programs. */
export interface Refusal {
  code: RefusalCode;
  /** Path of the argument that is wrong. */
  field?: string;
  /** The command that was refused. */
  command?: readonly string[];
  cwd?: string;
  reason: string;
  /** Set if it was asked about: who denied it. */
  by?: DecidedBy;
}

/** Why a call was not carried out; `RefusedCall.status` is the coarser view. */
export type RefusalCode =
  | "invalid_arguments"
  | "unknown_tool"
  | "unknown_environment"
  /** None is selected, or no selected one offers the tool. */
  | "no_environment"
  | "executor_offline"
  | "too_many_calls"
  | "unsendable"
  /** The executor cannot apply the sandbox of the command, or does not allow its permissions. */
  | "sandbox_unavailable"
  /** What would be sent is not what was approved. */
  | "changed"
  | "tool_failed"
  | "forbidden"
  | "denied"
  | "cancelled"
  | "interrupted"
  /** A dependency of the orchestrator has failed. */
  | "internal"
  /** The idempotency key was used for a call with other arguments. */
  | "key_reused"
  /** A call with this idempotency key was made before, and its result is no longer retained. */
  | "repeated"
  /** A call that must be recorded could not be recorded. */
  | "audit_failed"
  | "closed";

/** The call was sent, and there is no response. What it did, and whether it still runs, is unknown. */
export interface LostCall extends Located {
  status: "lost";
  isError: true;
  text: string;
  structured: {
    outcome: Extract<ProcessOutcome, { kind: "lost" }>;
    environment: string;
    /** The session that was last seen running, by the model's id. */
    sessionId?: number;
    /** Offset after the last received output of that session, bytes. */
    lastOffset?: number;
    /** For a second run outside the sandbox: the result of the first. */
    firstRun?: AnsweredCall["structured"];
  };
}

export function refuse(status: RefusedCall["status"], text: string, structured: Refusal): RefusedCall {
  return { status, isError: true, text, structured };
}

/** A plain error: its text is its reason. */
export const fail = (code: RefusalCode, reason: string): RefusedCall => refuse("error", reason, { code, reason });

/** Nothing was sent. */
export function interrupted(): RefusedCall {
  const reason = "the call was interrupted before anything was sent";
  return refuse("interrupted", `Interrupted: ${reason}. Nothing was run.`, { code: "interrupted", reason });
}

/** The same, because the orchestrator was closed. */
export function closedBeforeSending(): RefusedCall {
  const reason = "the orchestrator was closed before anything was sent";
  return refuse("interrupted", `Interrupted: ${reason}. Nothing was run.`, { code: "closed", reason });
}
