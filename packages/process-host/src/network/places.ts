import type { CompiledNetworkPolicy } from "@codex/network-policy";
import type { NetworkPlace } from "@codex/sandbox";
import { MAX_NETWORK_PLACES } from "../limits.js";

/**
 * Where the hosts of a policy are reached by their names: at the usual ports, which no command could use itself, and at a higher port that a rule
 * names, of that host alone.
 * @param findAddress where the session's DNS puts a name
 */
export function listPlaces(
  { rules }: CompiledNetworkPolicy,
  findAddress: (name: string) => string | undefined,
): readonly NetworkPlace[] {
  const low = new Set(USUAL_PORTS);
  const places = new Map<string, NetworkPlace>();
  for (const { rule, pattern } of rules) {
    if (rule.decision === "deny" || pattern.ports === undefined) continue;
    const { first, last } = pattern.ports;
    for (let port = first; port <= Math.min(last, first + MAX_NETWORK_PLACES); port += 1) {
      if (port < FIRST_FREE_PORT) low.add(port);
      else if (pattern.hosts.kind === "name" && pattern.hosts.apex) {
        const address = findAddress(pattern.hosts.name);
        if (address !== undefined) places.set(`${address}:${port}`, { address, port });
      }
    }
  }
  return [...[...low].map((port) => ({ port })), ...places.values()].slice(0, MAX_NETWORK_PLACES);
}

/** SSH, HTTP, HTTPS. */
const USUAL_PORTS = [22, 80, 443];
/** From here on, commands may listen themselves. */
const FIRST_FREE_PORT = 1024;
