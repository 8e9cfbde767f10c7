import type { ManagedNetwork } from "@codex/executor-protocol";
import type { NetworkRule as DeclaredRule } from "./rules/rule.js";

/** What sandboxed commands reach where their sandbox opens the network, besides what `network_rule` of the rule files says. */
export interface NetworkOptions extends Omit<ManagedNetwork, "policy"> {
  /** Default: none. */
  rules?: ManagedNetwork["policy"]["rules"];
  /** Default `full`. */
  mode?: ManagedNetwork["policy"]["mode"];
  /** Default false. */
  allowLocalBinding?: boolean;
}

const DECISIONS = { allow: "allow", prompt: "ask", forbidden: "deny" } as const;

/** The network of a command. As in Codex, the protocol of a `network_rule` decides nothing. */
export const createManagedNetwork = (
  { rules = [], mode = "full", allowLocalBinding = false, ...more }: NetworkOptions,
  declared: readonly DeclaredRule[],
): ManagedNetwork => {
  const written = declared.map(({ host, decision, origin }) => ({
    pattern: host.includes(":") ? `[${host}]` : host,
    decision: DECISIONS[decision],
    source: `${origin.file}:${origin.line}`,
  }));
  return { ...more, policy: { rules: [...rules, ...written], mode, allowLocalBinding } };
};
