import type { LiveOutput } from "@codex/executor-client";
import type { HostActivity, ProcessOutcome } from "@codex/executor-protocol";
import type { CallDecision } from "../audit/noted-decision.js";
import type { ToolCallResult } from "../result.js";

/** An event of an orchestrator, for views. `call` identifies the call of an event. */
export type OrchestratorEvent =
  /** The environment of the call is determined. Reported again for a command that runs again outside its sandbox. */
  | CallStarted
  /** First the policy's decision; if that is `asked`, the result of the approval follows. */
  | {
      readonly type: "call_decided";
      readonly call: number;
      readonly verdict: "allowed" | "asked" | "refused";
      readonly decision: CallDecision;
    }
  /** `output.bytes` must not be modified. It may be kept, unless the executor is in this process and has the option `lendsChunks`. */
  | { readonly type: "output"; readonly call: number; readonly environment: string; readonly output: LiveOutput }
  /** What the command of a call did about hosts since the last such event; also after the call. `omitted`: decisions that are not told apart. */
  | {
      readonly type: "hosts";
      readonly call: number;
      readonly environment: string;
      readonly hosts: readonly HostActivity[];
      readonly omitted: number;
    }
  | { readonly type: "call_ended"; readonly call: number; readonly result: ToolCallResult }
  | {
      readonly type: "session_exited";
      readonly environment: string;
      readonly sessionId: number;
      readonly outcome: ProcessOutcome;
    }
  /** An environment was added, attached, lost, reconnected or detached: `listEnvironments` describes it. */
  | { readonly type: "environments_changed" };

/** A call and its command. */
export interface CallStarted {
  readonly type: "call_started";
  readonly call: number;
  readonly tool: string;
  readonly environment: string;
  /** For a command: its argv, its absolute directory and whether it gets a terminal. */
  readonly command?: readonly string[];
  readonly cwd?: string;
  readonly tty?: boolean;
  /** The session that it writes to. */
  readonly session?: number;
}

/** Receives events in order. Must not throw; is not awaited. */
export type Observer = (event: OrchestratorEvent) => void;
