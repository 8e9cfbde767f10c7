import type { Target } from "@codex/network-policy";

/** A connection that a command wants, and by whom. */
export interface Wanted {
  client: string;
  target: Target;
  /** Aborts when the command gives up. */
  signal: AbortSignal;
}
