import type { LiveOutput } from "@codex/executor-client";
import type { Approver, Grant } from "../approvals/approver.js";
import type { CallDecision } from "../audit/noted-decision.js";
import type { EnvironmentSelection } from "../catalog/selection.js";

/** How one tool call is carried out. */
export interface CallToolOptions {
  /** Ends the wait: the result is `interrupted`, with the session id of what was started, which goes on running. */
  signal?: AbortSignal;
  /** Called with live output in order, from the first byte on. A promise it returns holds the executor back until it settles. */
  onOutput?: (output: LiveOutput) => unknown;
  /** Absolute directory of this turn, on the executor's host. */
  cwd?: string;
  /** Absolute directories that belong to this turn, for the sandbox; default `cwd`. */
  workspaceRoots?: readonly string[];
  /**
   * The environments of this turn, the first being the default; `[]`: none, so that nothing runs. `cwd` and
   * `workspaceRoots` above are those of the first unless it has its own. Default: all there are.
   */
  environments?: readonly EnvironmentSelection[];
  /** Called when it is decided whether the call may run, again with each approval. Must not throw. */
  onDecision?: (decision: CallDecision) => void;
  /** Asked for approval of this call, instead of the environment's or the orchestrator's. */
  approver?: Approver;
  /** `executor`: tools that list or read sessions see those of every orchestrator of the executor. Default `own`. */
  sessionScope?: "own" | "executor";
  /**
   * The decision on what `judge` returned for the same call. Where it is asked about, this decides instead of the approver;
   * anything else than what was decided about is refused with the code `changed`.
   */
  grant?: Grant;
  /**
   * Longest window of a unified-exec call, milliseconds from 0: for callers that are not waited for any longer. A command that
   * takes longer goes on as a session. Default: the bounds of the orchestrator.
   */
  maxWindowMs?: number;
  /**
   * Names the call, 1 to 256 characters: another call with this key runs nothing and gets the result of the first, which its
   * own `onOutput` and `signal` do not concern. With other arguments it is refused with the code `key_reused`.
   */
  idempotencyKey?: string;
  /**
   * On whose behalf, 1 to 128 characters, where several clients share the orchestrator: a client knows the sessions, the
   * decisions for the session and the idempotency keys of its own calls alone. Calls without one know all sessions.
   */
  client?: string;
  /**
   * A read for a person who watches, not for a model: `list_sessions`, `read_output` and `read_screen` are then neither recorded
   * nor reported to observers. No effect on other tools.
   */
  forDisplay?: boolean;
  /**
   * `write_stdin` at once, beside a call that waits on the session, and answered without output: what a model reads next stays
   * the same. Refused where the executor cannot do that.
   */
  concurrent?: boolean;
}
