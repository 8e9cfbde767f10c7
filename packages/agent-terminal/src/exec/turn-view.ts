import type { AgentEvent } from "@codex/agent";

/** Shows the events of a turn, in order. */
export interface TurnView {
  /** Resolves when it may be followed by the next one. */
  show(event: AgentEvent): Promise<void>;
}
