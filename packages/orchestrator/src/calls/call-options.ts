import type { LiveOutput } from "@codex/executor-client";
import type { Approver, Grant } from "../approvals/approver.js";
import type { CallDecision } from "../audit/noted-decision.js";
import type { EnvironmentSelection } from "../catalog/selection.js";
import type { HookCaller } from "../hooks/hook-caller.js";

/** Options of one tool call. */
export interface CallToolOptions {
  /** Ends the wait: the result is `interrupted`, with the session id of the started command, which keeps running. */
  signal?: AbortSignal;
  /** Called with live output in order, from the first byte on. A returned promise delays the executor until it settles. */
  onOutput?: (output: LiveOutput) => unknown;
  /** Absolute directory of this turn, on the executor's host. */
  cwd?: string;
  /** Absolute directories that belong to this turn, for the sandbox; default `cwd`. */
  workspaceRoots?: readonly string[];
  /**
   * The environments of this turn, the first being the default; `[]`: none, so that nothing runs. `cwd` and
   * `workspaceRoots` above are those of the first unless it has its own. Default: all environments.
   */
  environments?: readonly EnvironmentSelection[];
  /**
   * Variables of `exec_command` that tell the command for which call it runs, such as `CODEX_THREAD_ID` and `CODEX_TOOL_CALL_ID`. Those in
   * `CALL_VARIABLES` of the executor protocol are no part of an approval.
   */
  variables?: Readonly<Record<string, string>>;
  /** Called with the decision whether the call may run, and again with the result of each approval. Must not throw. */
  onDecision?: (decision: CallDecision) => void;
  /** Approver of this call, instead of that of the environment or the orchestrator. */
  approver?: Approver;
  /** `executor`: tools that list or read sessions include those of every orchestrator of the executor. Default `own`. */
  sessionScope?: "own" | "executor";
  /**
   * The decision about what `judge` returned for the same call. If approval is required, it replaces the approver; if the call
   * differs from the one decided about, it is refused with the code `changed`.
   */
  grant?: Grant;
  /**
   * Longest window of a unified-exec call, milliseconds from 0: for callers with a time limit of their own. A command that
   * takes longer continues as a session. Default: the bounds of the orchestrator.
   */
  maxWindowMs?: number;
  /**
   * Identifies the call, 1 to 256 characters: another call with this key runs nothing and gets the result of the first, which its
   * own `onOutput` and `signal` do not affect. With other arguments it is refused with the code `key_reused`.
   */
  idempotencyKey?: string;
  /**
   * The client of the call, 1 to 128 characters, where several share the orchestrator: a client has access only to the sessions,
   * the decisions for the session and the idempotency keys of its own calls. Calls without one have access to all sessions.
   */
  client?: string;
  /**
   * A read for display to a person, not for a model: `list_sessions`, `read_output` and `read_screen` are then neither recorded
   * nor reported to observers. No effect on other tools.
   */
  forDisplay?: boolean;
  /**
   * `write_stdin` concurrently with a call that waits on the session, with a result without output: the output that a model reads
   * next is unaffected. Refused if the executor does not support it.
   */
  concurrent?: boolean;
  /** Who makes the call, for hooks. */
  hookCaller?: HookCaller;
  /** Called with each text of a hook for the model; by default they are added to the text of the result. Must not throw. */
  onHookContext?: (text: string) => void;
}
