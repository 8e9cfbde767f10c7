import { RpcError } from "@codex/channel";
import type { HostDecision, NetworkSpec } from "@codex/exec-backend";
import {
  ERROR_CODES,
  isAllowingAnswer,
  type NetworkPolicyDecision,
  type StartParams,
  type WireNetworkProtocol,
} from "@codex/exec-server-protocol";
import type { HostQuestion } from "@codex/executor-protocol";
import { compileNetworkPolicy, PatternError } from "@codex/network-policy";
import type { Session } from "../session/session.js";

/** Converts `networkProxy`. Processes of a session with the same policy share a network. @throws RpcError -32602 for a pattern that is none */
export function toNetworkSpec(
  processId: string,
  { proxy, policyDecisionTimeoutMs: timeoutMs }: NonNullable<StartParams["networkProxy"]>,
  session: Session,
): NetworkSpec {
  const { domains = {}, reviewDomains = [], mode, allowLocalBinding, allowUpstreamProxy } = proxy;
  const listed = Object.entries(domains).flatMap(([pattern, decision]) =>
    decision === "none" ? [] : [{ pattern, decision }],
  );
  const reviewed = reviewDomains.map((pattern) => ({ pattern, decision: "ask" as const }));
  const policy = { rules: [...listed, ...reviewed], mode, allowLocalBinding };
  checkPolicy(policy);
  const ask = async ({ host, port, protocol }: HostQuestion, signal: AbortSignal) => {
    const request = { processId, request: { protocol: toWireProtocol(protocol, port), host, port } };
    // An error answers this connection, and the next one is asked about again.
    const answer = await session.askAboutNetwork(request, signal).catch(() => undefined);
    return isAllowingAnswer(answer) ? "allow_once" : "deny_once";
  };
  return {
    scope: session.id,
    policy,
    allowUpstreamProxy,
    ...(timeoutMs === undefined ? {} : { questions: { timeoutMs, ask } }),
    onDecision(decision) {
      for (const told of toWireDecisions(decision)) session.tellNetworkDecision(describe(processId, told));
    },
  };
}

function checkPolicy(policy: NetworkSpec["policy"]): void {
  try {
    compileNetworkPolicy(policy);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new RpcError(ERROR_CODES.invalidParams, `invalid network proxy config: ${error.message}`);
  }
}

const toWireProtocol = (protocol: HostQuestion["protocol"], port: number): WireNetworkProtocol => {
  if (protocol === "http") return "http";
  return protocol === "connect" || (protocol === "direct" && port === 443) ? "https_connect" : "socks5_tcp";
};

/** What Codex 0.169.0 tells of a decision. */
function toWireDecisions(decision: HostDecision): HostDecision[] {
  const { source, reason, protocol } = decision;
  const { reason: _, ...rest } = decision;
  const allowed: HostDecision = { ...rest, decision: "allow", source: "policy" };
  // What is no host is not decided about; that an allowed one was not reached is no decision.
  if (reason === "malformed") return [];
  if (source === "network") return [allowed];
  // Of what its mode forbids, first that its host is allowed, except of a tunnel and of one over SOCKS whose port is not 443.
  const isAllowedFirst =
    protocol === "http" ? isForbiddenByMode(reason) : protocol !== "connect" && reason === "mitm_required";
  return isAllowedFirst ? [allowed, decision] : [decision];
}

const isForbiddenByMode = (reason: string | undefined): boolean =>
  reason === "method_not_allowed" || reason === "mitm_required";

function describe(
  processId: string,
  { host, port, protocol, decision, source, reason }: HostDecision,
): NetworkPolicyDecision {
  const isMode = isForbiddenByMode(reason);
  const isAsked = source === "asked" || source === "remembered";
  const isPolicy = source === "policy" && !isMode && reason !== "unix_socket_unsupported";
  return {
    processId,
    timestamp: new Date().toISOString(),
    scope: isAsked || isPolicy ? "domain" : "non_domain",
    decision,
    source: isAsked ? "decider" : isPolicy ? "baseline_policy" : isMode ? "mode_guard" : "proxy_state",
    reason: reason ?? "allow",
    protocol: toWireProtocol(protocol, port),
    host,
    port,
    client: null,
    policyOverride: isAsked && decision === "allow",
  };
}
