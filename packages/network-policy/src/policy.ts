import type { Address } from "./address.js";
import { HOST_LOOPBACK_NAME, type Host, isLocalhostName } from "./host.js";
import { isLocalAddress, isMetadataAddress } from "./local-address.js";
import { getSpecificity, matches, matchesAnySpelling, type Pattern, PatternError, parsePattern } from "./pattern.js";

/** Whom a session may reach, as a person configured it. */
export interface NetworkPolicy {
  rules: readonly NetworkRule[];
  /** `limited`: only `GET`, `HEAD` and `OPTIONS` of plain HTTP. */
  mode: "full" | "limited";
  /** Local addresses count like others, except those where a cloud gives credentials. */
  allowLocalBinding: boolean;
}

/** What a pattern's hosts are: allowed, forbidden, or to be asked about although another rule allows them. */
export interface NetworkRule {
  /** See `parsePattern`. */
  pattern: string;
  decision: "allow" | "deny" | "ask";
  /** Where the rule stands, as `file:line`. */
  source?: string | undefined;
}

/** A policy whose patterns are parsed. */
export interface CompiledNetworkPolicy {
  rules: readonly { rule: NetworkRule; pattern: Pattern }[];
  mode: NetworkPolicy["mode"];
  allowLocalBinding: boolean;
}

/** Where a command wants to go. */
export interface Target {
  host: Host;
  /** 1 to 65535. */
  port: number;
  /** How it asks: a request of plain HTTP with its method, a tunnel, or a connection to an address of the session's DNS. */
  via: { protocol: "http"; method: string } | { protocol: "connect" | "socks5" | "direct" };
}

/**
 * `undecided`: no rule names the target, or one wants a question; it is denied where nobody can be asked, and an answer
 * allows it. `deny` is final.
 */
export type NetworkDecision =
  | { decision: "allow"; rule?: NetworkRule }
  | { decision: "undecided"; reason: "not_allowed"; rule?: NetworkRule }
  | { decision: "deny"; reason: DenyReason; rule?: NetworkRule };

/**
 * `denied`: a rule forbids it. `not_allowed`: no rule allows it. `not_allowed_local`: it is, or resolves to, an address
 * that is not public. `method_not_allowed`, `mitm_required`: the mode `limited` forbids it; the latter where the method
 * could only be seen by reading encrypted traffic.
 */
export type DenyReason = "denied" | "not_allowed" | "not_allowed_local" | "method_not_allowed" | "mitm_required";

/** @throws {PatternError} if a pattern is none, or forbids everything; the message names its source */
export function compileNetworkPolicy({ rules, mode, allowLocalBinding }: NetworkPolicy): CompiledNetworkPolicy {
  return { rules: rules.map(compileRule), mode, allowLocalBinding };
}

/** Decides about a target by what it is called, before its name is resolved. Names that it does not allow are never resolved. */
export function evaluateTarget(policy: CompiledNetworkPolicy, target: Target): NetworkDecision {
  const byHost = evaluateHost(policy, target);
  if (byHost.decision === "deny") return byHost;
  const reason = policy.mode === "limited" ? findForbiddenUse(target) : undefined;
  if (reason === undefined) return byHost;
  return { decision: "deny", reason: byHost.decision === "allow" ? reason : byHost.reason };
}

/**
 * Decides about the addresses to which the name of an allowed target resolved, or which its text spells: each must be
 * public, or opened by a rule that names it as an address. Only addresses that were passed here may be connected to.
 *
 * @param own the addresses of the executor's host, which count as local
 */
export function evaluateAddresses(
  policy: CompiledNetworkPolicy,
  target: Target,
  addresses: readonly Address[],
  own: readonly Address[],
): NetworkDecision {
  for (const address of addresses) {
    const host: Host = { text: target.host.text, address };
    const forbidding = findRule(policy, "deny", host, target.port);
    if (forbidding !== undefined) return { decision: "deny", reason: "denied", rule: forbidding };
    const isOwn = own.some((each) => isSameAddress(each, address));
    if ((isOwn || isLocalAddress(address) || isMetadataAddress(address)) && !isOpened(policy, address, target)) {
      return { decision: "deny", reason: "not_allowed_local" };
    }
  }
  return { decision: "allow" };
}

function compileRule(rule: NetworkRule): { rule: NetworkRule; pattern: Pattern } {
  try {
    const pattern = parsePattern(rule.pattern);
    if (rule.decision === "deny" && pattern.hosts.kind === "any" && pattern.ports === undefined) {
      throw new PatternError('network pattern "*": forbids every host; switch the network off instead');
    }
    return { rule, pattern };
  } catch (error) {
    if (!(error instanceof PatternError) || rule.source === undefined) throw error;
    throw new PatternError(`${rule.source}: ${error.message}`, { cause: error });
  }
}

function evaluateHost(policy: CompiledNetworkPolicy, target: Target): NetworkDecision {
  const { host, port } = target;
  const forbidding = findRule(policy, "deny", host, port);
  if (forbidding !== undefined) return { decision: "deny", reason: "denied", rule: forbidding };
  if (isLocalTarget(host) && !isOpenedByName(policy, target)) return { decision: "deny", reason: "not_allowed_local" };
  const asking = findRule(policy, "ask", host, port);
  if (asking !== undefined) return { decision: "undecided", reason: "not_allowed", rule: asking };
  const allowing = findRule(policy, "allow", host, port);
  return allowing === undefined
    ? { decision: "undecided", reason: "not_allowed" }
    : { decision: "allow", rule: allowing };
}

/** The most specific rule of one kind that names a host. */
function findRule(
  { rules }: CompiledNetworkPolicy,
  decision: NetworkRule["decision"],
  host: Host,
  port: number,
): NetworkRule | undefined {
  const isMeant = decision === "allow" ? matches : matchesAnySpelling;
  const found = rules.filter(({ rule, pattern }) => rule.decision === decision && isMeant(pattern, host, port));
  return found.sort((a, b) => getSpecificity(b.pattern) - getSpecificity(a.pattern))[0]?.rule;
}

/** What is known to be local without a name server. What another text spells is checked once a rule allows the text. */
function isLocalTarget({ text, address }: Host): boolean {
  if (address !== undefined) return isLocalAddress(address) || isMetadataAddress(address);
  return isLocalhostName(text) || text === HOST_LOOPBACK_NAME;
}

function isOpenedByName(policy: CompiledNetworkPolicy, { host, port, via }: Target): boolean {
  if (host.address !== undefined) return isOpened(policy, host.address, { host, port, via });
  const isNamed = policy.rules.some(
    ({ rule, pattern }) =>
      rule.decision === "allow" &&
      pattern.hosts.kind === "name" &&
      !pattern.hosts.below &&
      matches(pattern, host, port),
  );
  return isNamed || (policy.allowLocalBinding && isLocalhostName(host.text));
}

/** Whether a rule names a local address, or all of them are open. Credentials of a cloud need a rule for the very address. */
function isOpened(policy: CompiledNetworkPolicy, address: Address, { host, port }: Target): boolean {
  const isMetadata = isMetadataAddress(address);
  const isNamed = policy.rules.some(({ rule, pattern }) => {
    if (rule.decision !== "allow" || pattern.hosts.kind !== "block") return false;
    if (isMetadata && pattern.hosts.block.length !== address.length * 8) return false;
    return matches(pattern, { text: host.text, address }, port);
  });
  if (isNamed || isMetadata) return isNamed;
  if (policy.allowLocalBinding) return true;
  // Named one by one, `localhost` and the host's loopback may resolve to what they are.
  return host.address === undefined && isLoopbackName(host.text) && address[0] === (address.length === 4 ? 127 : 0);
}

function isLoopbackName(text: string): boolean {
  return isLocalhostName(text) || text === HOST_LOOPBACK_NAME;
}

const LIMITED_METHODS: readonly string[] = ["GET", "HEAD", "OPTIONS"];

/** Whether a mode lets a request of this method through, where the method can be seen. */
export const allowsMethod = (mode: NetworkPolicy["mode"], method: string): boolean =>
  mode === "full" || LIMITED_METHODS.includes(method);

function findForbiddenUse({ via, port }: Target): DenyReason | undefined {
  if (via.protocol === "http") return allowsMethod("limited", via.method) ? undefined : "method_not_allowed";
  return via.protocol === "connect" || port === 443 ? "mitm_required" : "method_not_allowed";
}

function isSameAddress(a: Address, b: Address): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
