import { createHash } from "node:crypto";
import type { Channel, ChannelEnd } from "@codex/channel";
import { openNoiseChannel, serveExecutorRelay } from "@codex/relay";
import { messageOf } from "@codex/values";
import { createRandom, type Random } from "../random.js";
import { type FaultKind, FrameFaults } from "./frame-faults.js";
import { startFrameProxy } from "./frame-proxy.js";
import { RendezvousNode, startNats } from "./nodes.js";

/** Options of a run. */
export interface RelayRunOptions {
  seed: number;
  /** Number of faults. */
  faults: number;
  /** Called from time to time. */
  onProgress?: (done: number) => void;
}

/** The result of a run. */
export interface RelayRunResult {
  faults: Record<FaultKind, number>;
  /** Nodes of the rendezvous: two on NATS, one where it is not installed. */
  nodes: number;
  messages: number;
  bytes: number;
  /** What was lost, repeated, out of order or changed; empty if all is well. */
  problems: string[];
}

const EXECUTORS = 2;
const HARNESSES = 6;

/** Maximum number of messages in flight on one stream. */
const WINDOW = 8;

/**
 * Streams between executors and harnesses of this project through a rendezvous with faults. Each message carries its number and
 * bytes derived from a seed; the executor executes each one by counting it, and sends its digest back.
 */
export async function runRelayFaults({ seed, faults: total, onProgress }: RelayRunOptions): Promise<RelayRunResult> {
  const random = createRandom(seed, "relay");
  const faults = new FrameFaults(random.fork("faults"), total);
  const nats = await startNats();
  const nodes = Array.from({ length: nats === undefined ? 1 : 2 }, () => new RendezvousNode(nats?.url ?? ""));
  for (const node of nodes) await node.start();
  let repairing = Promise.resolve();
  const proxy = await startFrameProxy({
    faults,
    listPorts: () => nodes.filter(({ isUp }) => isUp).map(({ port }) => port),
    onNodeFault: (kind) => {
      const killed = kind === "kill-all" ? nodes : [random.pick(nodes)];
      repairing = repairing.then(async () => {
        await Promise.all(killed.map((node) => node.kill()));
        await Promise.all(killed.map((node) => node.start()));
      });
    },
  });
  const result: RelayRunResult = { faults: faults.counts, nodes: nodes.length, messages: 0, bytes: 0, problems: [] };
  const registry = (n: number) => ({
    url: proxy.url,
    environmentId: `env-${n}`,
    authorize: () => ({ authorization: "Bearer any" }),
  });
  const executors = await Promise.all(
    Array.from({ length: EXECUTORS }, (_, n) =>
      serveExecutorRelay({ registry: registry(n), onStream: (channel) => void execute(channel, result.problems) }),
    ),
  );
  const channels: Channel[] = [];
  try {
    while (executors.some(({ isConnected }) => !isConnected)) await pauseFor(20);
    for (let n = 0; n < HARNESSES; n += 1) channels.push(await openNoiseChannel({ registry: registry(n % EXECUTORS) }));
    const progress = setInterval(() => onProgress?.(faults.done), 5_000);
    const drives = channels.map((channel, n) =>
      drive(channel, { random: random.fork(`harness ${n}`), n, faults, result }),
    );
    await Promise.all(drives.map(({ ready }) => ready));
    faults.isArmed = true;
    await Promise.all(drives.map(({ finished }) => finished)).finally(() => clearInterval(progress));
  } catch (error) {
    result.problems.push(messageOf(error));
  } finally {
    faults.isArmed = false;
    await repairing;
    await Promise.all(channels.map((channel) => channel.close({ deadlineMs: 0 })));
    await Promise.all(executors.map((executor) => executor.close()));
    await proxy.close();
    await Promise.all(nodes.map((node) => node.kill()));
    await nats?.stop();
  }
  return result;
}

interface Message {
  n: number;
  fill: string;
}

/** Executes each message once, and responds with the digest of its bytes and the number of messages before it. */
async function execute(channel: Channel, problems: string[]): Promise<void> {
  let executed = 0;
  for (let item = await channel.receive(); item?.kind === "value"; item = await channel.receive()) {
    // Made by `drive`.
    const { n, fill } = item.value as Message;
    if (n !== executed) problems.push(`the executor got message ${n} after ${executed} messages`);
    executed += 1;
    await channel.send({ n, executed, digest: digestOf(fill), fill }).catch(() => {});
  }
}

/** Sends messages until there were enough faults, and checks the responses. */
function drive(
  channel: Channel,
  { random, n: harness, faults, result }: { random: Random; n: number; faults: FrameFaults; result: RelayRunResult },
) {
  const sent: string[] = [];
  let received = 0;
  let setReady = () => {};
  let wake = () => {};
  const ready = new Promise<void>((resolve) => {
    setReady = resolve;
  });
  const deliver = (fill: string) => {
    sent.push(digestOf(fill));
    return channel.send({ n: sent.length - 1, fill });
  };
  const send = async () => {
    while (!faults.isOver) {
      while (sent.length - received >= (received === 0 ? 1 : WINDOW)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const fill = random
        .next()
        .toString(36)
        .repeat(Math.floor(random.next() ** 6 * 8_000));
      sent.push(digestOf(fill));
      await channel.send({ n: sent.length - 1, fill });
    }
    // Wakes a receiver that was waiting when the last fault occurred.
    await deliver("");
  };
  const receive = async () => {
    while (!faults.isOver || received < sent.length) {
      const item = await channel.receive();
      if (item?.kind !== "value") {
        const reason = item === undefined ? describeEnd(await channel.closed) : item.kind;
        throw new Error(`harness ${harness}: ended after ${received} of ${sent.length} messages: ${reason}`);
      }
      const { n, executed, digest, fill } = item.value as Message & { executed: number; digest: string };
      const isRight = n === received && executed === received + 1 && digest === sent[n] && digestOf(fill) === digest;
      if (!isRight)
        result.problems.push(`harness ${harness}: response ${received} is of message ${n}, executed as ${executed}`);
      received += 1;
      result.messages += 1;
      result.bytes += 2 * fill.length;
      setReady();
      wake();
    }
  };
  return { ready, finished: Promise.all([send(), receive()]).then(() => {}) };
}

const describeEnd = (end: ChannelEnd): string => (end.kind === "failed" ? end.error.message : end.kind);

const digestOf = (text: string): string => createHash("sha256").update(text).digest("base64");

const pauseFor = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
