import { randomUUID } from "node:crypto";
import {
  HostVerdicts,
  isAllowing,
  NetworkDenials,
  type NetworkSpec,
  type NetworkState,
  StartError,
} from "@codex/exec-backend";
import type { WireNetworkProtocol } from "@codex/exec-server-protocol";
import type { HostQuestion } from "@codex/executor-protocol";
import { type CompiledNetworkPolicy, compileNetworkPolicy, PatternError } from "@codex/network-policy";
import { evictOldest } from "@codex/values";
import * as z from "zod/mini";
import type { ServerInfo } from "../connection/connection.js";
import { MAX_SESSION_HOSTS } from "../limits.js";
import type { NetworkListener } from "../session/client-session.js";

/** The networks of the processes of one backend. */
export class RemoteNetworks {
  /** What an answer has allowed to all processes of the same scope and policy: scope, policy, host and port. */
  readonly #allowed = new Set<string>();

  /** @throws StartError for a policy that is none */
  open(spec: NetworkSpec): RemoteNetwork {
    const { scope, policy } = spec;
    const keyOf = ({ host, port }: HostQuestion) => JSON.stringify([scope, policy, host, port]);
    return new RemoteNetwork(spec, {
      has: (question) => this.#allowed.has(keyOf(question)),
      add: (question) => {
        this.#allowed.add(keyOf(question));
        evictOldest(this.#allowed, MAX_SESSION_HOSTS);
      },
    });
  }
}

interface AllowedHosts {
  has(question: HostQuestion): boolean;
  add(question: HostQuestion): void;
}

/** The network that an exec-server gives a process: what is sent of it, the questions of the server, and what it has denied. */
export class RemoteNetwork implements NetworkListener {
  readonly #spec: NetworkSpec;
  readonly #policy: CompiledNetworkPolicy;
  readonly #allowed: AllowedHosts;
  readonly #verdicts: HostVerdicts;
  readonly #denials = new NetworkDenials();
  /** Questions that wait for their answer: the server asks for each connection. */
  readonly #asking = new Map<string, Promise<boolean>>();

  /** @throws StartError for a policy that is none */
  constructor(spec: NetworkSpec, allowed: AllowedHosts) {
    this.#spec = spec;
    if ((spec.routes ?? []).length > 0) throw refuse("has no routes with secrets");
    this.#policy = compile(spec.policy);
    this.#allowed = allowed;
    this.#verdicts = new HostVerdicts(spec.questions);
  }

  get state(): NetworkState {
    return this.#denials.state;
  }

  /** Members of `process/start`. */
  get members(): Readonly<Record<string, unknown>> {
    const { policy, allowUpstreamProxy = false, questions } = this.#spec;
    const { mode, allowLocalBinding } = policy;
    const listed = (wanted: string) =>
      policy.rules.flatMap(({ pattern, decision }) => (decision === wanted ? [pattern] : []));
    // What is listed later counts: a host that is forbidden as well is forbidden.
    const domains = Object.fromEntries(
      (["allow", "deny"] as const).flatMap((decision) => listed(decision).map((pattern) => [pattern, decision])),
    );
    const reviewDomains = listed("ask");
    const proxy = {
      ...{ enabled: true, enableSocks5: true, enableSocks5Udp: false, dangerouslyAllowAllUnixSockets: false },
      ...{ allowUpstreamProxy, mode, allowLocalBinding, domains },
      ...(reviewDomains.length === 0 ? {} : { reviewDomains }),
    };
    // The server waits longer than this side, whose answer is then why the host is denied.
    const timeout = questions === undefined ? {} : { policyDecisionTimeoutMs: questions.timeoutMs + ANSWER_MARGIN_MS };
    const networkProxy = {
      proxy,
      auditMetadata: NO_METADATA,
      environmentId: "remote",
      executionId: randomUUID(),
      ...timeout,
    };
    return { enforceManagedNetwork: true, managedNetwork: null, networkProxy };
  }

  /** @throws StartError where the server cannot hold it: nothing is sent then */
  check({ networkPatterns }: ServerInfo, environmentInfo: unknown): void {
    const { networkProxyLaunch, networkProxyReviewDomains } =
      abilities.safeParse(environmentInfo).data?.capabilities ?? {};
    const rules = this.#policy.rules;
    if (networkProxyLaunch !== true) throw refuse("does not say that it can hold the network of a command");
    if (networkProxyReviewDomains !== true && rules.some(({ rule }) => rule.decision === "ask")) {
      throw refuse("does not say that it asks about hosts that a rule asks about");
    }
    if (networkPatterns) return;
    const wider = rules.find(({ pattern: { ports, hosts } }) => ports !== undefined || isBlock(hosts));
    if (wider === undefined) return;
    const { pattern, source } = wider.rule;
    const place = source === undefined ? "" : ` (${source})`;
    throw refuse(`holds neither ports nor blocks of addresses, as in ${JSON.stringify(pattern)}${place}`);
  }

  /** Never rejects. */
  async isAllowed(
    asked: { protocol: WireNetworkProtocol | "socks5_udp"; host: string; port: number },
    signal: AbortSignal,
  ) {
    const question = { ...asked, protocol: PROTOCOLS[asked.protocol] };
    if (this.#allowed.has(question)) return true;
    const key = JSON.stringify([question.host, question.port]);
    const waiting = this.#asking.get(key);
    if (waiting !== undefined) return waiting;
    const answer = this.#decide(question, signal).finally(() => this.#asking.delete(key));
    this.#asking.set(key, answer);
    return answer;
  }

  async #decide(question: HostQuestion, signal: AbortSignal): Promise<boolean> {
    const verdict = await this.#verdicts.decide(question, signal);
    if (verdict === "allow_for_session") this.#allowed.add(question);
    return isAllowing(verdict);
  }

  note(decision: {
    host: string;
    port: number;
    protocol: WireNetworkProtocol | "socks5_udp";
    decision: "allow" | "deny";
    source: string;
    reason: string;
  }): void {
    const { host, port, reason } = decision;
    const place = { host, port, protocol: PROTOCOLS[decision.protocol] };
    const isAsked = decision.source === "decider";
    const isAllowed = decision.decision === "allow";
    const source = isAsked ? "asked" : "policy";
    this.#spec.onDecision?.({
      ...place,
      decision: decision.decision,
      source,
      reason: isAllowed ? undefined : reason,
      count: 1,
    });
    if (isAllowed) return;
    const answer = this.#verdicts.getDenial(place);
    this.#denials.add({ ...place, reason, count: 1, ...(answer === undefined ? {} : { answer }) });
  }
}

function compile(policy: NetworkSpec["policy"]): CompiledNetworkPolicy {
  try {
    return compileNetworkPolicy(policy);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new StartError("sandbox_invalid", `the network policy is none: ${error.message}`, { cause: error });
  }
}

const isBlock = (hosts: CompiledNetworkPolicy["rules"][number]["pattern"]["hosts"]): boolean =>
  hosts.kind === "block" && hosts.block.length < hosts.block.address.length * 8;

const refuse = (problem: string) =>
  new StartError("sandbox_unavailable", `nothing was started: the exec-server ${problem}`);

const ANSWER_MARGIN_MS = 2_000;

const PROTOCOLS = { http: "http", https_connect: "connect", socks5_tcp: "socks5", socks5_udp: "socks5" } as const;

const abilities = z.object({
  capabilities: z.nullish(
    z.looseObject({
      networkProxyLaunch: z.optional(z.boolean()),
      networkProxyReviewDomains: z.optional(z.boolean()),
    }),
  ),
});

/** Codex 0.169.0 requires the members; none of it is told to the server. */
const NO_METADATA = Object.fromEntries(
  [
    "conversationId",
    "appVersion",
    "userAccountId",
    "authMode",
    "originator",
    "userEmail",
    "terminalType",
    "model",
    "slug",
  ].map((name) => [name, null]),
);
