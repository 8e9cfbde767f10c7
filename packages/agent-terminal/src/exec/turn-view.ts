import type { AgentEvent } from "@codex/agent";

/** Shows the events of a turn, in order. */
export interface TurnView {
  /** Resolves when the next event can be shown. */
  show(event: AgentEvent): Promise<void>;
}
