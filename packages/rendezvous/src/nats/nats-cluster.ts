import { randomBytes } from "node:crypto";
import { type Clock, systemClock } from "@codex/clock";
import type { Logger } from "@codex/telemetry";
import { defined, messageOf } from "@codex/values";
import { type KV, Kvm, type KvWatchEntry } from "@nats-io/kv";
import { connect, type NatsConnection, RequestError } from "@nats-io/transport-node";
import { MAX_NODE_MESSAGE_BYTES, NATS_CONNECT_MS, NODE_TICK_MS } from "../limits.js";
import { REFUSAL_STATUS, Refusal, type RefusalCode } from "../refusal.js";
import { type Cluster, type LocalNode, NodeGone, type NodeRequest } from "../registry/cluster.js";
import { createStickiness, type Stickiness } from "../registry/stickiness.js";
import { readNatsUrl } from "./nats-url.js";
import { nodeAnswerSchema, nodeRequestSchema, parseMessage } from "./node-messages.js";
import { keyOf, Publisher } from "./publisher.js";

/** Options of {@link openNatsCluster}. */
export interface NatsClusterOptions {
  /** `nats://[USER:PASSWORD@]HOST[:PORT][/NAME]`, or `tls://…`; several servers separated by commas. Nodes with the same NAME form one rendezvous. */
  url: string;
  clock?: Clock;
  log?: Logger | undefined;
}

/**
 * Connects a node to the others on the same NATS. Registrations and the ticket key are stored in JetStream; requests between nodes go
 * through NATS, frames never do.
 * @throws Error if NATS cannot be reached or has no JetStream
 */
export async function openNatsCluster(options: NatsClusterOptions): Promise<Cluster> {
  const { clock = systemClock, log = {} } = options;
  const { servers, name, isTls, ...credentials } = readNatsUrl(options.url);
  const nats = await connect({
    servers,
    ...credentials,
    ...(isTls ? { tls: {} } : {}),
    name: "codex rendezvous",
    timeout: NATS_CONNECT_MS,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    reconnectJitter: 250,
    pingInterval: 5_000,
    maxPingOut: 2,
  }).catch((cause: unknown) => {
    throw new Error(`NATS at ${servers.join(", ")} cannot be reached: ${messageOf(cause)}`, { cause });
  });
  try {
    const kvm = new Kvm(nats);
    const config = await openBucket(kvm, `${name}-config`, {});
    const ticketKey = await shareKey(config);
    return new NatsCluster({ nats, kvm, name, clock, log, ticketKey });
  } catch (cause) {
    await nats.close();
    throw new Error(`NATS at ${servers.join(", ")} cannot be used: ${messageOf(cause)}`, { cause });
  }
}

interface NatsClusterParts {
  nats: NatsConnection;
  kvm: Kvm;
  /** Name of the rendezvous; prefix of the names of buckets and subjects. */
  name: string;
  clock: Clock;
  log: Logger;
  ticketKey: Uint8Array;
}

class NatsCluster implements Cluster {
  readonly nodeId = randomBytes(9).toString("hex");
  readonly ticketKey: Uint8Array;
  readonly #parts: NatsClusterParts;
  #isConnected = true;
  #isClosed = false;
  #local: LocalNode | undefined;
  #registrations: KV | undefined;
  #harnesses: KV | undefined;
  #publisher: Publisher | undefined;
  #sticky: Stickiness | undefined;
  #stopWatch = () => {};
  #cancelTick = () => {};

  constructor(parts: NatsClusterParts) {
    this.#parts = parts;
    this.ticketKey = parts.ticketKey;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  async join(local: LocalNode): Promise<void> {
    const { nats, name, clock } = this.#parts;
    const { registrations, limits } = local;
    this.#local = local;
    this.#sticky = createStickiness({ max: limits.maxSticky, ms: limits.stickyMs, now: () => clock.now() });
    const publisher = new Publisher({
      store: () => this.#bucket(this.#registrations),
      registrations,
      nodeId: this.nodeId,
      now: () => clock.now(),
      renewMs: limits.leaseMs / 3,
    });
    this.#publisher = publisher;
    nats.subscribe(`${name}.node.${this.nodeId}`, {
      callback: (error, message) => {
        if (error === null) message.respond(JSON.stringify(this.#answer(message.string())));
      },
    });
    await this.#open();
    registrations.observer = {
      onClaimed: (entry) => publisher.add(entry, true),
      onReleased: (entry) => publisher.add(entry, false),
    };
    void this.#followStatus();
    this.#tick();
  }

  async publish(registration: Parameters<typeof keyOf>[0]): Promise<void> {
    if (!this.#isConnected || this.#publisher === undefined) return;
    await this.#within(this.#publisher.written(keyOf(registration)));
  }

  async refresh(environmentId: string, memberKey: string): Promise<void> {
    if (!this.#isConnected) return;
    const found = await this.#within(this.#registrations?.get(`${environmentId}.${memberKey}`));
    if (found) this.#publisher?.receive(found);
  }

  async ask(nodeId: string, request: NodeRequest): Promise<object> {
    const { nats, name } = this.#parts;
    if (!this.#isConnected) throw new Refusal("nodes_away", "the node of the executor cannot be reached", 1);
    const timeout = this.#local?.limits.nodeTimeoutMs ?? NATS_CONNECT_MS;
    let text: string;
    try {
      // Without a subscriber NATS responds immediately, so that a killed node is detected without waiting.
      text = (await nats.request(`${name}.node.${nodeId}`, JSON.stringify(request), { timeout })).string();
    } catch (cause) {
      const isCertain = cause instanceof RequestError && cause.isNoResponders();
      throw new NodeGone(`the node of the executor did not respond: ${messageOf(cause)}`, isCertain, { cause });
    }
    const answer = parseMessage(nodeAnswerSchema, text);
    if (answer === undefined) throw new NodeGone("the node of the executor has another version", false);
    if ("ok" in answer) return answer.ok;
    const { code, message, retryAfterS } = answer.refusal;
    throw new Refusal(Object.hasOwn(REFUSAL_STATUS, code) ? (code as RefusalCode) : "internal", message, retryAfterS);
  }

  async recall(harness: string): Promise<string | undefined> {
    const known = this.#sticky?.recall(harness);
    if (known !== undefined || !this.#isConnected) return known;
    const found = await this.#within(this.#harnesses?.get(harness));
    return found?.operation === "PUT" ? found.string() : undefined;
  }

  remember(harness: string, member: string): void {
    this.#sticky?.remember(harness, member);
    if (this.#isConnected) this.#harnesses?.put(harness, member).catch(() => {});
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#cancelTick();
    const publisher = this.#publisher;
    const local = this.#local;
    if (publisher !== undefined && local !== undefined && this.#isConnected) {
      const keys = [...local.registrations.all()].map(({ registration }) => keyOf(registration));
      await this.#within(Promise.all(keys.map((key) => publisher.written(key))));
    }
    this.#stopWatch();
    await this.#parts.nats.close().catch(() => {});
  }

  #answer(text: string): object {
    try {
      const request = text.length > MAX_NODE_MESSAGE_BYTES ? undefined : parseMessage(nodeRequestSchema, text);
      if (request === undefined || this.#local === undefined) throw new Refusal("internal", "the request is invalid");
      return { ok: this.#local.answer(request) };
    } catch (error) {
      if (!(error instanceof Refusal))
        this.#parts.log.error?.("a request from another node failed", { reason: messageOf(error) });
      const { code, message, retryAfterS } =
        error instanceof Refusal ? error : new Refusal("internal", "the rendezvous has failed; see its log");
      return { refusal: { code, message, ...defined({ retryAfterS }) } };
    }
  }

  /** Opens the buckets, reads all entries, and watches them from then on. */
  async #open(): Promise<void> {
    const { kvm, name } = this.#parts;
    const { leaseMs = 0, stickyMs = 0 } = this.#local?.limits ?? {};
    this.#registrations = await openBucket(kvm, `${name}-registrations`, { ttl: leaseMs });
    this.#harnesses = await openBucket(kvm, `${name}-harnesses`, { ttl: stickyMs });
    this.#stopWatch();
    this.#publisher?.writeAll();
    const updates = await this.#registrations.watch({ include: "updates" });
    this.#stopWatch = () => updates.stop();
    void this.#follow(updates);
    for await (const entry of await this.#registrations.history()) this.#publisher?.receive(entry);
  }

  async #follow(updates: AsyncIterable<KvWatchEntry>): Promise<void> {
    try {
      for await (const entry of updates) this.#publisher?.receive(entry);
    } catch (error) {
      this.#parts.log.warn?.("updates of other nodes have stopped", {
        reason: messageOf(error),
      });
    }
  }

  async #followStatus(): Promise<void> {
    const { nats, log } = this.#parts;
    for await (const { type } of nats.status()) {
      if (type === "disconnect") {
        this.#isConnected = false;
        log.warn?.("NATS is unavailable; executors and harnesses of this node keep working");
      } else if (type === "reconnect") {
        await this.#reopen();
      }
    }
  }

  /** Called on reconnection: NATS may have been restarted without its data. */
  async #reopen(): Promise<void> {
    const { kvm, name, ticketKey, log } = this.#parts;
    try {
      const config = await openBucket(kvm, `${name}-config`, {});
      await config.create(TICKET_KEY, ticketKey).catch(() => {});
      await this.#open();
      this.#isConnected = true;
      log.info?.("NATS is available again");
    } catch (error) {
      log.warn?.("NATS is reachable again, but cannot be used", { reason: messageOf(error) });
      this.#parts.clock.after(NODE_TICK_MS, () => {
        if (!this.#isClosed && !this.#isConnected) void this.#reopen();
      });
    }
  }

  #tick(): void {
    this.#cancelTick = this.#parts.clock.after(NODE_TICK_MS, () => {
      if (this.#isConnected) this.#publisher?.renew();
      this.#tick();
    });
  }

  #bucket(bucket: KV | undefined): KV {
    if (bucket === undefined) throw new Error("the node has not joined");
    return bucket;
  }

  /** Awaits a promise for a limited time; undefined after it, or on failure. */
  async #within<T>(promise: Promise<T> | undefined): Promise<T | undefined> {
    const ms = this.#local?.limits.nodeTimeoutMs ?? NATS_CONNECT_MS;
    let cancel = () => {};
    const late = new Promise<undefined>((resolve) => {
      cancel = this.#parts.clock.after(ms, () => resolve(undefined));
    });
    try {
      return await Promise.race([promise, late]);
    } catch {
      return undefined;
    } finally {
      cancel();
    }
  }
}

const TICKET_KEY = "ticket-key";

/** Opens a bucket, or creates it; an existing one keeps its own options, such as more replicas. */
async function openBucket(kvm: Kvm, name: string, options: { ttl?: number }): Promise<KV> {
  const existing = await kvm.open(name);
  try {
    await existing.status();
    return existing;
  } catch {
    return kvm.create(name, { history: 1, ...options });
  }
}

/** Returns the ticket key: the first node creates it, all others read it. */
async function shareKey(config: KV): Promise<Uint8Array> {
  await config.create(TICKET_KEY, randomBytes(32)).catch(() => {});
  const entry = await config.get(TICKET_KEY);
  if (entry === null || entry.value.length < 32) throw new Error("the ticket key is missing or too short");
  return new Uint8Array(entry.value);
}
