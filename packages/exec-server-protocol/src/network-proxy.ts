import * as z from "zod/mini";
import { safeParse } from "zod/mini";
import { optional, refuse } from "./members.js";

const PROXY = {
  enabled: z.boolean(),
  enableSocks5: z.boolean(),
  enableSocks5Udp: z.boolean(),
  allowUpstreamProxy: z.boolean(),
  dangerouslyAllowAllUnixSockets: z.boolean(),
  mode: z.enum(["limited", "full"]),
  allowLocalBinding: z.boolean(),
  domains: optional(z.record(z.string(), z.enum(["allow", "deny", "none"]))),
  unixSockets: optional(z.record(z.string(), z.enum(["allow", "deny", "none"]))),
  /** A match is asked about although it is allowed. */
  reviewDomains: optional(z.array(z.string())),
};

/** What a real client sends beside, and Codex 0.169.0 ignores. */
const IGNORED = ["mitm", "credentialBroker"];

const proxyMember = z.pipe(
  z.looseObject(PROXY),
  z.transform((proxy, context) => {
    const unknown = Object.keys(proxy).find(
      (name) => !(name in PROXY) && !IGNORED.includes(name) && proxy[name] !== null,
    );
    if (unknown !== undefined)
      return refuse(context, proxy, `invalid network proxy config: \`${unknown}\` is not known, and may restrict`);
    if (!proxy.enabled) {
      const problem = "executor-local network proxy launch requires an enabled proxy";
      return refuse(context, proxy, `invalid network proxy config: ${problem}`);
    }
    return proxy;
  }),
);

/** Which hosts a process may reach: `networkProxy` of `process/start`. */
export const networkProxyMember = () =>
  z.looseObject({
    proxy: proxyMember,
    /** Milliseconds for each answer to `network/policyRequest`; absent: nobody is asked. */
    policyDecisionTimeoutMs: optional(
      z.pipe(
        z.int().check(z.nonnegative()),
        z.transform((ms, context) =>
          ms > 0 ? ms : refuse(context, ms, "network policy decision callback timeout must be nonzero"),
        ),
      ),
    ),
  });

/** The names of protocols in messages about the network. */
export type WireNetworkProtocol = "http" | "https_connect" | "socks5_tcp";

/** `network/policyRequest`, from the server: a connection waits for the answer. */
export interface NetworkPolicyRequest {
  processId: string;
  request: { protocol: WireNetworkProtocol; host: string; port: number };
}

const wireProtocol = z.enum(["http", "https_connect", "socks5_tcp", "socks5_udp"]);

const policyRequestSchema = z.object({
  processId: z.string(),
  request: z.object({ protocol: wireProtocol, host: z.string(), port: z.int() }),
});

/** Parses `network/policyRequest`; undefined if it is none. */
export const parseNetworkRequest = (params: unknown): z.output<typeof policyRequestSchema> | undefined =>
  safeParse(policyRequestSchema, params).data;

const policyDecisionSchema = z.object({
  processId: z.string(),
  decision: z.enum(["allow", "deny"]),
  source: z.string(),
  reason: z.string(),
  protocol: wireProtocol,
  host: z.string(),
  port: z.int(),
});

/** Parses `network/policyDecision`; undefined if it is none. */
export const parseNetworkDecision = (params: unknown): z.output<typeof policyDecisionSchema> | undefined =>
  safeParse(policyDecisionSchema, params).data;

const answerSchema = z.object({ decision: z.looseObject({ type: z.enum(["allow", "deny", "ask"]) }) });

/** Whether the answer to `network/policyRequest` allows it; one that is none does not. */
export function isAllowingAnswer(answer: unknown): boolean {
  const parsed = safeParse(answerSchema, answer);
  return parsed.success && parsed.data.decision.type === "allow";
}

/** `network/policyDecision`, a notification of the server. */
export interface NetworkPolicyDecision {
  processId: string;
  /** ISO 8601. */
  timestamp: string;
  scope: "domain" | "non_domain";
  decision: "allow" | "deny";
  source: "baseline_policy" | "decider" | "mode_guard" | "proxy_state";
  reason: string;
  protocol: WireNetworkProtocol;
  host: string;
  port: number;
  client: null;
  policyOverride: boolean;
}
