import type { ProcessOutcome, UnifiedExecResult } from "@codex/executor-protocol";

/** What a tool call came to: text for the model, and the same for programs. */
export type ToolCallResult<Structured = AnyStructured> = AnsweredCall<Structured> | RefusedCall | LostCall;

/** The structured result of a tool that is not known when the call is written. */
export type AnyStructured = UnifiedExecResult | Record<string, unknown>;

/** The structured result of a tool by its name, where that is known when the call is written. */
export type StructuredOf<Name extends string> = string extends Name
  ? AnyStructured
  : Name extends "exec_command" | "write_stdin"
    ? UnifiedExecResult
    : Record<string, unknown>;

/** Where it was. */
interface Located {
  /** Name of the environment; undefined when none was selected, so that nothing was run. */
  environment?: string;
}

/** The executor answered. A command that exits with a code other than 0 is a success of the tool. */
export interface AnsweredCall<Structured = AnyStructured> extends Located {
  /** `interrupted`: the caller's signal ended the wait; a session that still runs has its id in the text. */
  status: "success" | "interrupted";
  isError: false;
  text: string;
  /**
   * A unified-exec result with the model's session id as `processId`, whatever another tool answered, or undefined
   * when the executor gave none that can be trusted. After a second run outside a sandbox `firstRun` is that of the first.
   */
  structured: Structured | undefined;
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
}

/** Why a call was not carried out; `RefusedCall.status` is the coarser view. */
export type RefusalCode =
  | "invalid_arguments"
  | "unknown_tool"
  | "unknown_environment"
  /** None is selected, or none that is offers the tool. */
  | "no_environment"
  | "executor_offline"
  | "too_many_calls"
  | "unsendable"
  /** The executor cannot hold the command as it has to be held, or does not allow what it would be allowed. */
  | "sandbox_unavailable"
  /** What would be sent is not what was approved. */
  | "changed"
  | "tool_failed"
  | "forbidden"
  | "denied"
  | "cancelled"
  | "interrupted"
  /** Something that was handed to the orchestrator has failed. */
  | "internal"
  /** The idempotency key was given to a call with other arguments. */
  | "key_reused"
  /** A call with this idempotency key was made, and its result is not kept any more. */
  | "repeated"
  /** A call that has to be on record could not be recorded. */
  | "audit_failed"
  | "closed";

/** The call was sent and no answer can be had. What it did, and whether it still runs, is unknown. */
export interface LostCall extends Located {
  status: "lost";
  isError: true;
  text: string;
  structured: {
    outcome: Extract<ProcessOutcome, { kind: "lost" }>;
    environment: string;
    /** The session that was last seen running, by the model's id. */
    sessionId?: number;
    /** Where the output of that session ended that was received while it ran, bytes. */
    lastOffset?: number;
    /** It was a second run, outside the sandbox: the result of the first. */
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
export function closedMeanwhile(): RefusedCall {
  const reason = "the orchestrator was closed before anything was sent";
  return refuse("interrupted", `Interrupted: ${reason}. Nothing was run.`, { code: "closed", reason });
}
