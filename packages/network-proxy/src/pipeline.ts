import { connect, type LookupFunction, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "@codex/clock";
import { type HttpProxy, openTunnel } from "@codex/http-proxy";
import {
  type Address,
  type CompiledNetworkPolicy,
  evaluateAddresses,
  evaluateTarget,
  HOST_LOOPBACK_NAME,
  isLocalhostName,
  type NetworkRule,
  parseAddress,
  renderAddress,
  type Target,
} from "@codex/network-policy";
import type { DecisionEvent, Failure, NetworkEvent, Protocol } from "./events.js";
import { createForwarder } from "./forwarder.js";
import { MAX_CONNECTIONS, MAX_DIAL_MS, MAX_DIALS, NEXT_ADDRESS_MS } from "./limits.js";
import type { Questions } from "./questions.js";
import type { Resolver } from "./resolver.js";
import type { Wanted } from "./wanted.js";

/** A target was refused, or could not be reached. */
export class TargetError extends Error {
  override readonly name = "TargetError";
  readonly reason: Failure;
  readonly rule: NetworkRule | undefined;

  constructor(reason: Failure, rule?: NetworkRule) {
    super(reason);
    this.reason = reason;
    this.rule = rule;
  }
}

/** A connection to a host that counts as open until it is released. */
export interface HostConnection {
  socket: Socket;
  /** Passes on what the host sends, and its end. Called once, and only where it is forwarded. */
  sendTo(client: Duplex): void;
  release(): void;
}

type Dialled = Pick<HostConnection, "socket" | "sendTo">;

export interface PipelineOptions {
  policy: CompiledNetworkPolicy;
  resolver: Resolver;
  questions: Questions;
  /** Addresses of this host, which count as local. */
  getOwnAddresses: () => readonly Address[];
  /** The proxy of this host's environment for a target. */
  findUpstream: (target: Target) => HttpProxy | undefined;
  report: (event: NetworkEvent) => void;
  clock: Clock;
}

/** What every connection goes through, however it was asked for: decision, question, resolution, connection. */
export class Pipeline {
  readonly #options: PipelineOptions;
  #connections = 0;
  #dials = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(options: PipelineOptions) {
    this.#options = options;
  }

  /**
   * Opens a connection to a target that is allowed. The caller closes it.
   *
   * @param isForwarded whether what the host sends is only passed on, with `sendTo`; else `socket` is read
   * @throws {TargetError} if it is refused or fails, which was reported; the reason of `signal` when it aborts first
   */
  async open(wanted: Wanted, isForwarded: boolean): Promise<HostConnection> {
    if (this.#connections >= MAX_CONNECTIONS) throw this.#refuse(wanted, "too_many_connections", "limit");
    this.#connections += 1;
    let isCounted = true;
    const release = () => {
      if (isCounted) this.#connections -= 1;
      isCounted = false;
    };
    try {
      const { source, rule } = await this.#decide(wanted);
      const { socket, sendTo } = await this.#dial(wanted, isForwarded);
      const address = socket.remoteAddress;
      this.#report(wanted, { decision: "allow", source, ...describeRule(rule), ...(address && { address }) });
      return { socket, sendTo, release };
    } catch (error) {
      release();
      wanted.signal.throwIfAborted();
      throw error;
    }
  }

  /** Reports that a client's first bytes named another host than its target. */
  reportServerName(wanted: Wanted): void {
    this.#report(wanted, { decision: "deny", source: "sni", reason: "sni_mismatch" });
  }

  /** Reports a request of a route that is not forwarded. */
  reportRefused(wanted: Wanted, reason: Failure, source: DecisionEvent["source"]): void {
    this.#report(wanted, { decision: "deny", source, reason });
  }

  /** Reports a request that names no target. */
  reportMalformed(client: string, protocol: Protocol, text: string, reason: Failure): void {
    const port = 0;
    const event = { client, protocol, host: text.slice(0, 256), port, decision: "deny", source: "policy" } as const;
    this.#options.report({ kind: "decision", ...event, reason, count: 1 });
  }

  async #decide(wanted: Wanted): Promise<{ source: DecisionEvent["source"]; rule?: NetworkRule }> {
    const { questions } = this.#options;
    const policy = wanted.policy ?? this.#options.policy;
    const judged = evaluateTarget(policy, wanted.target);
    const rule = judged.rule;
    if (judged.decision === "allow") return { source: "policy", ...(rule && { rule }) };
    if (judged.decision === "deny") throw this.#refuse(wanted, judged.reason, "policy", rule);
    // A name that an answer could not open is not asked about.
    const answer = await questions.ask(wanted, async () => {
      const { host } = wanted.target;
      const isLookedUp = host.spelled !== undefined || this.#options.findUpstream(wanted.target) === undefined;
      if (host.address === undefined && isLookedUp) await this.#resolve(wanted);
    });
    if (answer.decision === "allow") return { source: answer.source };
    throw this.#refuse(wanted, answer.reason, answer.source, rule);
  }

  /** The addresses of a target, all of which are allowed. */
  async #resolve(wanted: Wanted): Promise<readonly Address[]> {
    const { resolver, getOwnAddresses } = this.#options;
    const policy = wanted.policy ?? this.#options.policy;
    const { host } = wanted.target;
    const fixed = host.address ?? host.spelled;
    const addresses = fixed === undefined ? await this.#lookUp(resolver, host.text) : [fixed];
    if (addresses.length === 0) throw this.#refuse(wanted, "unresolvable", "network");
    const judged = evaluateAddresses(policy, wanted.target, addresses, getOwnAddresses());
    if (judged.decision === "deny") throw this.#refuse(wanted, judged.reason, "policy", judged.rule);
    return addresses;
  }

  async #lookUp(resolver: Resolver, name: string): Promise<readonly Address[]> {
    if (name === HOST_LOOPBACK_NAME || isLocalhostName(name)) return LOOPBACK;
    return resolver.resolve(name);
  }

  async #dial(wanted: Wanted, isForwarded: boolean): Promise<Dialled> {
    const { target, signal } = wanted;
    const upstream = this.#options.findUpstream(target);
    const addresses = upstream === undefined || target.host.spelled ? await this.#resolve(wanted) : [];
    signal.throwIfAborted();
    await this.#waitForTurn();
    try {
      signal.throwIfAborted();
      if (upstream === undefined)
        return await connectTo(addresses, target.port, isForwarded, signal, this.#options.clock);
      const socket = await openTunnel(upstream, target.host.text, target.port);
      return { socket, sendTo: (client) => void socket.pipe(client) };
    } catch (error) {
      signal.throwIfAborted();
      throw this.#refuse(wanted, error instanceof DialTimeout ? "timeout" : "unreachable", "network");
    } finally {
      this.#dials -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #waitForTurn(): Promise<void> {
    if (this.#dials >= MAX_DIALS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#dials += 1;
  }

  #refuse(wanted: Wanted, reason: Failure, source: DecisionEvent["source"], rule?: NetworkRule): TargetError {
    this.#report(wanted, { decision: "deny", source, reason, ...describeRule(rule) });
    return new TargetError(reason, rule);
  }

  #report(
    { client, target }: Wanted,
    rest: Pick<DecisionEvent, "decision" | "source" | "reason" | "rule" | "address">,
  ): void {
    const { host, port, via } = target;
    const event = { client, host: host.text, port, protocol: via.protocol, ...rest, count: 1 };
    this.#options.report({ kind: "decision", ...event });
  }
}

const LOOPBACK: readonly Address[] = ["127.0.0.1", "::1"].map((text) => parseAddress(text)!);

class DialTimeout extends Error {}

function describeRule(rule: NetworkRule | undefined): Pick<DecisionEvent, "rule"> {
  if (rule === undefined) return {};
  const { pattern, source } = rule;
  return { rule: source === undefined ? { pattern } : { pattern, source } };
}

/** Connects to the first of these addresses that answers. What they were resolved from is not resolved again. */
function connectTo(
  addresses: readonly Address[],
  port: number,
  isForwarded: boolean,
  signal: AbortSignal,
  clock: Pick<Clock, "after">,
): Promise<Dialled> {
  const found = addresses.map((address) => ({
    address: renderAddress(address),
    family: address.length === 4 ? 4 : 6,
  }));
  const lookup: LookupFunction = (_, options, done) => {
    if (options.all === true) done(null, found);
    else done(null, found[0]!.address, found[0]!.family);
  };
  const forwarder = isForwarded ? createForwarder() : undefined;
  return new Promise((resolve, reject) => {
    const socket = connect({
      // Any name: `lookup` answers for it.
      host: "target.invalid",
      port,
      lookup,
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
      allowHalfOpen: true,
      noDelay: true,
      ...(forwarder && { onread: forwarder.onread }),
    });
    if (isForwarded) socket.pause();
    const cancel = clock.after(MAX_DIAL_MS, () => socket.destroy(new DialTimeout()));
    const abort = () => socket.destroy(new Error("nobody waits for the connection"));
    signal.addEventListener("abort", abort);
    const finish = (error?: Error) => {
      cancel();
      signal.removeEventListener("abort", abort);
      socket.off("error", finish);
      if (error === undefined) resolve({ socket, sendTo: (client) => forwarder?.forward(socket, client) });
      else reject(error);
    };
    socket.once("error", finish);
    socket.once("connect", () => finish());
  });
}
