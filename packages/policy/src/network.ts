import type { ManagedNetwork, Sandbox } from "@codex/executor-protocol";
import type { NetworkRule as DeclaredRule } from "./rules/rule.js";

/** What sandboxed commands reach where their sandbox opens the network, besides what `network_rule` of the rule files says. */
export interface NetworkOptions extends Omit<ManagedNetwork, "policy"> {
  /** Default: none. */
  rules?: ManagedNetwork["policy"]["rules"];
  /** Default `full`. */
  mode?: ManagedNetwork["policy"]["mode"];
  /** Default false. */
  allowLocalBinding?: boolean;
  /** Also where the sandbox closes the network to a command. Default false. */
  opensSandbox?: boolean;
  /** What rule files allow does not count, what they deny does. Default false. */
  isComplete?: boolean;
}

const DECISIONS = { allow: "allow", prompt: "ask", forbidden: "deny" } as const;

/** What a command is sent with: its sandbox as it was chosen, or closed, with the hosts that it reaches all the same. */
export type LimitedNetwork = { sandbox: Sandbox | null; network?: ManagedNetwork } | { refused: string };

/**
 * Limits what a command in a sandbox reaches. Its sandbox is then closed: an executor that does not know the member lets it reach nothing.
 * @param declared the rules for hosts of the rule files
 */
export function limitNetwork(
  sandbox: Sandbox | null,
  options: NetworkOptions | undefined,
  declared: readonly DeclaredRule[],
): LimitedNetwork {
  const permissions = sandbox?.permissions;
  if (options === undefined || permissions === undefined || permissions.type === "disabled") return { sandbox };
  if (permissions.network !== "enabled" && options.opensSandbox !== true) return { sandbox };
  if (permissions.type === "external")
    return { refused: "which hosts a command reaches cannot be held in a sandbox from outside" };
  return {
    sandbox: { ...sandbox, permissions: { ...permissions, network: "restricted" } },
    network: createManagedNetwork(options, declared),
  };
}

/** The network of a command. As in Codex, the protocol of a `network_rule` decides nothing. */
const createManagedNetwork = (
  {
    rules = [],
    mode = "full",
    allowLocalBinding = false,
    allowUpstreamProxy = false,
    routes = [],
    isComplete,
  }: NetworkOptions,
  declared: readonly DeclaredRule[],
): ManagedNetwork => {
  const counted = isComplete === true ? declared.filter(({ decision }) => decision !== "allow") : declared;
  const written = counted.map(({ host, decision, origin }) => ({
    pattern: host.includes(":") ? `[${host}]` : host,
    decision: DECISIONS[decision],
    source: `${origin.file}:${origin.line}`,
  }));
  const policy = { rules: [...rules, ...written], mode, allowLocalBinding };
  return { allowUpstreamProxy, policy, ...(routes.length === 0 ? {} : { routes }) };
};
