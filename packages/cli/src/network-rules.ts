import { visible } from "@codex/agent-terminal/text";
import type { Explanation, RulePolicy } from "@codex/policy";

type NetworkRule = RulePolicy["networkRules"][number];

/** Rules for the hosts in addresses of a command. */
export function findNamedHosts({ networkRules }: RulePolicy, { commands, inside }: Explanation): NetworkRule[] {
  const words = [...commands, ...inside].flatMap((command) => command.words);
  const hosts = new Set(words.flatMap(hostsIn));
  return networkRules.filter(({ host, protocol }) => hosts.has(`${protocol}://${host}`));
}

const hostsIn = (word: string): string[] =>
  [...word.matchAll(/https?:\/\/[^\s"'<>]+/gi)].flatMap(([address]) => {
    if (!URL.canParse(address)) return [];
    const { protocol, hostname } = new URL(address);
    return [`${protocol}//${hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "")}`];
  });

/** Lines of `execpolicy explain`. `isLimited`: commands reach only what is allowed. */
export function renderNetworkRules(
  all: readonly NetworkRule[],
  named: readonly NetworkRule[],
  isLimited: boolean,
): string[] {
  if (all.length === 0) return [];
  const count = `${all.length} ${all.length === 1 ? "rule" : "rules"} for hosts`;
  const held = isLimited
    ? "held where a command connects"
    : "checked but not enforced: access is on or off without `features.network_proxy`";
  return [`network      ${count}, ${held}`, ...named.map(renderRule)];
}

const renderRule = ({ host, protocol, decision, origin }: NetworkRule) =>
  visible(`    ${decision.padEnd(9)}  ${protocol}://${host} (${origin.file}:${origin.line}), named in the command`);
