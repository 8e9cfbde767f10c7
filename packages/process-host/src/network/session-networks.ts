import type { Socket } from "node:net";
import type { HostEnd, NetworkSpec, NetworkState, OnceVerdict } from "@codex/exec-backend";
import { HostVerdicts, isAllowing, MAX_NETWORK_DENIALS, NetworkDenials, StartError } from "@codex/exec-backend";
import type { HostQuestion, HostVerdict } from "@codex/executor-protocol";
import { compileNetworkPolicy, type NetworkRule, PatternError } from "@codex/network-policy";
import { type Answer, type DecisionEvent, type NetworkEvent, NetworkProxy, type Question } from "@codex/network-proxy";
import type { CommandSandbox, NetworkPlace, SessionNetwork } from "@codex/sandbox";
import { defined } from "@codex/values";
import { NETWORK_IDLE_MS } from "../limits.js";
import { createFindUpstream } from "./find-upstream.js";
import { listPlaces } from "./places.js";
import { renderProxyVariables } from "./proxy-variables.js";
import { createRoutes } from "./routes.js";

/** The network of one process. */
export interface JoinedNetwork {
  readonly network: SessionNetwork;
  /** Those by which it is found. */
  readonly variables: Readonly<Record<string, string>>;
  /** @param isOver whether the process has ended: hosts that it looked up and did not connect to are then told as well */
  getState(isOver: boolean): NetworkState;
  /** Call when none of its processes is left, or it was not started. Idempotent. */
  leave(): void;
}

/** Networks that processes of the same scope and policy share, each from its first process until some time after its last. Linux. */
export class SessionNetworks {
  readonly #sandbox: Pick<CommandSandbox, "openNetwork">;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #upstreamForPrivate: boolean;
  readonly #open = new Map<string, Promise<SharedNetwork>>();

  /**
   * @param env where a proxy of this host is found
   * @param upstreamForPrivate private addresses are reached through it as well, unless they are this host
   */
  constructor(
    sandbox: Pick<CommandSandbox, "openNetwork">,
    env: Readonly<Record<string, string | undefined>>,
    upstreamForPrivate = false,
  ) {
    this.#sandbox = sandbox;
    this.#env = env;
    this.#upstreamForPrivate = upstreamForPrivate;
  }

  /** @throws StartError where this host has no such network, or the policy is none */
  async join(spec: NetworkSpec): Promise<JoinedNetwork> {
    const { scope, policy, routes = [], allowUpstreamProxy = false, questions } = spec;
    const key = JSON.stringify([scope, policy, routes, allowUpstreamProxy, questions !== undefined]);
    for (;;) {
      const shared = await (this.#open.get(key) ?? this.#make(key, spec));
      const joined = shared.join(spec);
      if (joined === undefined) continue;
      // The next process has one of its own.
      if (joined.network.kind === "port") this.#open.delete(key);
      return joined;
    }
  }

  /** Ends all networks. */
  async close(): Promise<void> {
    for (const shared of await Promise.allSettled(this.#open.values())) {
      if (shared.status === "fulfilled") shared.value.close();
    }
  }

  #make(key: string, spec: NetworkSpec): Promise<SharedNetwork> {
    const forget = () => this.#open.delete(key);
    const made = openShared(
      spec,
      this.#sandbox,
      { env: this.#env, upstreamForPrivate: this.#upstreamForPrivate },
      forget,
    );
    this.#open.set(key, made);
    made.catch(forget);
    return made;
  }
}

async function openShared(
  { policy, routes = [], allowUpstreamProxy = false, questions }: NetworkSpec,
  sandbox: Pick<CommandSandbox, "openNetwork">,
  { env, upstreamForPrivate }: { env: Readonly<Record<string, string | undefined>>; upstreamForPrivate: boolean },
  onClosed: () => void,
): Promise<SharedNetwork> {
  const members = new Members();
  const compiled = refuseInvalid(() => compileNetworkPolicy(policy));
  const createPolicy = (rule: NetworkRule) => compileNetworkPolicy({ ...policy, rules: [...policy.rules, rule] });
  const proxy = new NetworkProxy({
    policy: compiled,
    routes: refuseInvalid(() => createRoutes(routes, createPolicy, env)),
    onEvent: (event) => members.report(event),
    // Names are resolved before anybody is asked, and only then.
    ...(questions === undefined
      ? {}
      : {
          ask: (question: Question, signal: AbortSignal) => members.ask(question, signal),
          mayAsk: (client: string) => members.find(client)?.isAsking === true,
        }),
    ...(allowUpstreamProxy ? { findUpstream: createFindUpstream(env, upstreamForPrivate) } : {}),
  });
  const places = listPlaces(compiled, (name) => proxy.findAddress(name));
  try {
    const network = await sandbox.openNetwork(places);
    if (network.kind === "port" && routes.length > 0) {
      network.close();
      throw new StartError(
        "sandbox_unavailable",
        "routes with secrets need a namespace: here every program of this host could use them",
      );
    }
    return new SharedNetwork(network, proxy, places, members, onClosed);
  } catch (error) {
    proxy.close();
    throw error;
  }
}

/** @throws StartError for a pattern or a route that is none */
const refuseInvalid = <T>(create: () => T): T => {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new StartError("sandbox_invalid", `the network policy is none: ${error.message}`, { cause: error });
  }
};

class SharedNetwork {
  readonly #network: SessionNetwork;
  readonly #proxy: NetworkProxy;
  readonly #members: Members;
  readonly #onClosed: () => void;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    network: SessionNetwork,
    proxy: NetworkProxy,
    places: readonly NetworkPlace[],
    members: Members,
    onClosed: () => void,
  ) {
    this.#network = network;
    this.#proxy = proxy;
    this.#members = members;
    this.#onClosed = onClosed;
    if (network.kind === "port") {
      // It is the network of one process.
      proxy.serveProxy(network.proxy, () => members.first);
      return;
    }
    proxy.serveProxy(network.proxy, addressOf);
    for (const [at, server] of network.direct.entries()) proxy.serveDirect(server, places[at]!.port, () => UNKNOWN);
    proxy.serveDns(network.dns);
  }

  /** Undefined once it is closed. */
  join(spec: Listening): JoinedNetwork | undefined {
    if (this.#isClosed || (this.#network.kind === "port" && this.#members.size > 0)) return undefined;
    clearTimeout(this.#idle);
    const member = this.#members.add(spec);
    const proxy = this.#proxy;
    const leave = () => {
      proxy.flushEvents();
      if (!this.#members.remove(member)) return;
      proxy.closeClient(member.address);
      if (this.#network.kind === "port") this.close();
      else if (this.#members.size === 0) this.#idle = setTimeout(() => this.close(), NETWORK_IDLE_MS).unref();
    };
    return {
      network: this.#network,
      variables:
        this.#network.kind === "port"
          ? renderProxyVariables("127.0.0.1", this.#network.port)
          : renderProxyVariables(member.address),
      getState(isOver) {
        proxy.flushEvents();
        return member.getState(isOver);
      },
      leave,
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    clearTimeout(this.#idle);
    this.#onClosed();
    this.#proxy.close();
    this.#network.close();
  }
}

const addressOf = (socket: Socket): string => socket.localAddress ?? UNKNOWN;

/** A connection by name alone: its address tells the name and not the process. */
const UNKNOWN = "";

/** The processes of one network, by the address at which each has the proxy. */
class Members {
  readonly #all = new Map<string, Member>();
  #next = 0;

  get size(): number {
    return this.#all.size;
  }

  /** The address of the only process; empty for none. */
  get first(): string {
    return [...this.#all.keys()][0] ?? UNKNOWN;
  }

  add(spec: Listening): Member {
    let address: string;
    do {
      address = `127.77.${Math.floor(this.#next / 254) % 256}.${(this.#next % 254) + 1}`;
      this.#next += 1;
    } while (this.#all.has(address));
    const member = new Member(address, spec);
    this.#all.set(address, member);
    return member;
  }

  remove(member: Member): boolean {
    return this.#all.delete(member.address);
  }

  /** The process that connects; where it cannot be told, the latest. */
  find(client: string): Member | undefined {
    return client === UNKNOWN ? [...this.#all.values()].at(-1) : this.#all.get(client);
  }

  async ask({ client, target }: Question, signal: AbortSignal): Promise<Answer> {
    const place: HostQuestion = { host: target.host.text, port: target.port, protocol: target.via.protocol };
    const known = client === UNKNOWN ? [...this.#all.values()].find((one) => one.allows(place)) : undefined;
    const member = known ?? this.find(client);
    const verdict = (await member?.decide(place, signal)) ?? "unasked";
    const decision = isAllowing(verdict) ? "allow" : "deny";
    return { decision, remember: verdict === "allow_for_session" ? "proxy" : "connection" };
  }

  /** What no process can be told from is told to all that run. */
  report(event: NetworkEvent): void {
    if (event.kind === "end") {
      const { kind: _, client, ...end } = event;
      return this.find(client)?.addEnd(end);
    }
    if (event.kind === "decision" && event.client !== UNKNOWN) return this.#all.get(event.client)?.add(event);
    for (const member of this.#all.values()) {
      if (event.kind === "decision") member.add(event);
      else member.addLookup(event.host);
    }
  }
}

/** Who is asked and told. */
type Listening = Pick<NetworkSpec, "questions" | "onDecision" | "onEnd">;

class Member {
  readonly address: string;
  readonly #verdicts: HostVerdicts;
  readonly #onDecision: NetworkSpec["onDecision"];
  readonly #onEnd: NetworkSpec["onEnd"];
  readonly #denials = new NetworkDenials();
  /** Hosts that were looked up, and whether there was a connection to them by name. */
  readonly #lookedUp = new Map<string, boolean>();

  constructor(address: string, { questions, onDecision, onEnd }: Listening) {
    this.#onEnd = onEnd;
    this.address = address;
    this.#verdicts = new HostVerdicts(questions);
    this.#onDecision = onDecision;
  }

  get isAsking(): boolean {
    return this.#verdicts.isAsking;
  }

  allows(place: HostQuestion): boolean {
    return this.#verdicts.allows(place);
  }

  decide(place: HostQuestion, signal: AbortSignal): Promise<HostVerdict | OnceVerdict> {
    return this.#verdicts.decide(place, signal);
  }

  /** Connections by name to a port at which nothing listens are refused by the system, so that only the lookup tells of them. */
  getState(isOver: boolean): NetworkState {
    const { denied, omitted } = this.#denials.state;
    const hosts = [...this.#lookedUp].flatMap(([host, isConnected]) => (isOver && !isConnected ? [host] : []));
    const lookups = hosts.map((host) => ({
      host,
      port: 0,
      protocol: "direct" as const,
      reason: "looked_up",
      count: 1,
    }));
    const all = [...denied, ...lookups];
    const told = all.slice(0, MAX_NETWORK_DENIALS);
    return { denied: told, omitted: omitted + all.length - told.length };
  }

  addEnd(end: HostEnd): void {
    this.#onEnd?.(end);
  }

  addLookup(host: string): void {
    if (!this.#lookedUp.has(host)) this.#lookedUp.set(host, false);
  }

  add({ decision, reason, rule, ...event }: DecisionEvent): void {
    const { host, port, protocol, source, count } = event;
    if (protocol === "direct") this.#lookedUp.set(host, true);
    this.#onDecision?.({ host, port, protocol, decision, source, count, ...defined({ reason, rule }) });
    if (decision === "allow") return;
    const answer = source === "asked" ? this.#verdicts.getDenial({ host, port }) : undefined;
    this.#denials.add({ host, port, protocol, reason: reason ?? "not_allowed", count, ...defined({ rule, answer }) });
  }
}
