import type { ProtocolProblem } from "@codex/executor-client";
import type { ProcessOutcome } from "@codex/executor-protocol";

/** Events of attached executors. Callbacks that throw are reported to `onProblem`. */
export interface ExecutorEvents {
  /** Called with each message of an executor that violates the protocol. */
  onProblem?: (problem: ProtocolProblem) => void;
  /** Called when the tools of an attached executor have changed: call `listTools` again. */
  onToolsChanged?: (executor: string) => void;
  /** Called when a session has ended, whether or not it is polled. */
  onSessionExited?: (session: { executor: string; sessionId: number; outcome: ProcessOutcome }) => void;
  /**
   * Called when the channel of an executor has ended; the executor stays attached. While `reconnecting`, calls wait for
   * another channel; otherwise they fail with the reason. Called again when reconnecting has failed.
   */
  onOffline?: (executor: string, reason: string, reconnecting: boolean) => void;
  /** Called when an executor is connected again. `resumed`: its sessions were retained; otherwise they are lost, for `reason`. */
  onOnline?: (executor: string, back: { resumed: true } | { resumed: false; reason: string }) => void;
}
