import type { CompiledNetworkPolicy, Target } from "@codex/network-policy";

/** A connection that a command wants, and by whom. */
export interface Wanted {
  client: string;
  target: Target;
  /** In place of the policy of the session: that of a route. */
  policy?: CompiledNetworkPolicy | undefined;
  /** Aborts when the command gives up. */
  signal: AbortSignal;
}
