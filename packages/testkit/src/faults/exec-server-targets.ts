import { type Channel, createMemoryChannelPair, createStdioChannel } from "@codex/channel";
import { type ExecServer, serveStdio } from "@codex/exec-server";
import { type Connector, ExecServerClient, type LinkOptions } from "@codex/exec-server-client";
import { defined } from "@codex/values";
import { duplexPair } from "./duplex-pair.js";
import { createFaultProxy } from "./fault-proxy.js";
import { relay } from "./faulty-relay.js";
import { createFlakyChannel } from "./flaky-channel.js";
import { createJumpyClock } from "./jumpy-clock.js";
import { startPeerServer } from "./peer-server.js";
import type { RunTarget, TargetContext } from "./run-seed.js";
import { createWirePlan, describeWirePlan } from "./wire-fault.js";

/** A client of an exec-server over a faulty connection. */
export interface Target extends RunTarget {
  client: ExecServerClient;
}

/** Milliseconds that a session is kept without a connection, longer than any fault of these targets. */
export const DETACHED_MS = 15_000;

/** Processes end with the client, whatever the faults: well before the server would end the session. */
const LEFT_OVER_MS = 10_000;

/** A session that the client has lost, or whose old connection seems alive, is kept until the server ends it. */
const givenUpMs = (detachedMs: number): number => 2 * detachedMs + LEFT_OVER_MS;

const nothing = async (): Promise<void> => {};

/** A websocket through a proxy that breaks connections. The session survives, so nothing may be lost. */
export async function openWire(
  url: string,
  { random, history }: TargetContext,
  detachedMs: number = DETACHED_MS,
): Promise<Target> {
  const plan = createWirePlan(random.fork("wire"));
  const proxy = await createFaultProxy(url, plan, (text) => history.note(text));
  const clock = createJumpyClock();
  const jumps = random.chance(0.1);
  const client = await connect(proxy.url, { clock, random: () => 0 });
  return {
    client,
    plan: [...describeWirePlan(plan), ...(jumps ? ["the clock jumps"] : [])],
    // A jump past the time in which a session can be resumed.
    mayBeLost: () => jumps,
    async disturb() {
      if (!jumps) return;
      await sleep(random.between(0, 30));
      history.note("clock: jump");
      clock.jump(100_000);
    },
    heal: () => proxy.heal(),
    close: () => proxy.close(),
    leftOverMs: jumps || plan.flat().some(({ kind }) => kind === "half_open") ? givenUpMs(detachedMs) : LEFT_OVER_MS,
  };
}

/** Retries the first connection, which may break in the handshake, before there is a session to resume. */
async function connect(url: string, options: LinkOptions): Promise<ExecServerClient> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ExecServerClient.connectWebSocket(url, options);
    } catch (error) {
      if (attempt === 20) throw error;
    }
  }
}

/** The client is disconnected for longer than a session is kept: everything is lost, and ended. */
export async function openAbandoned(url: string, { random, history }: TargetContext): Promise<Target> {
  const proxy = await createFaultProxy(url, [], (text) => history.note(text));
  const client = await ExecServerClient.connectWebSocket(proxy.url, { random: () => 0 });
  return {
    client,
    plan: ["disconnected for longer than a session is kept"],
    mayBeLost: () => true,
    async disturb() {
      await sleep(random.between(0, 60));
      proxy.sever();
      await sleep(ABANDONED_MS + 150);
      proxy.heal();
    },
    heal: () => proxy.heal(),
    close: () => proxy.close(),
    leftOverMs: LEFT_OVER_MS,
  };
}

/** Milliseconds that a session is kept without a connection, at the server that is abandoned. */
export const ABANDONED_MS = 100;

/** The server is killed while programs run, and another one replaces it. */
export async function openKilled(command: string, { random, history }: TargetContext): Promise<Target> {
  let server = await startPeerServer(command);
  const proxy = await createFaultProxy(server.url, createWirePlan(random.fork("wire")), (text) => history.note(text));
  const client = await connect(proxy.url, { random: () => 0 });
  return {
    client,
    plan: ["the server is killed"],
    mayBeLost: () => true,
    async disturb() {
      await sleep(random.between(0, 80));
      history.note("server: killed");
      await server.kill();
      server = await startPeerServer(command);
      history.note("server: replaced");
      proxy.setTarget(server.url);
    },
    heal: () => proxy.heal(),
    async close() {
      await proxy.close();
      await server.close();
    },
    leftOverMs: LEFT_OVER_MS,
  };
}

/** A channel in this process whose messages are delayed, repeated or lost, and that breaks. */
export async function openChannel(server: ExecServer, { random, history }: TargetContext): Promise<Target> {
  const choices = random.fork("channel");
  const cuts = Array.from({ length: choices.between(0, 4) }, () => choices.between(0, 60));
  let opened = 0;
  const connector: Connector = {
    canReopen: true,
    async open(): Promise<Channel> {
      const [ours, theirs] = createMemoryChannelPair();
      const cutAfter = cuts[opened];
      opened += 1;
      history.note(`channel: connection ${opened}`);
      void server.serve(theirs, { transport: { kind: "websocket", peer: "memory" } });
      return createFlakyChannel(ours, {
        random: choices.fork(`connection ${opened}`),
        ...defined({ cutAfter }),
        duplicate: { chance: 0.1, fits: (value) => value !== undefined },
        drop: { chance: 0.02, fits: isOutput },
        delayMs: choices.pick([0, 5]),
        note: (text) => history.note(text),
      });
    },
  };
  const client = await connectAgain(connector);
  return {
    client,
    plan: [`cut after ${cuts.join(", ") || "no"} messages; repeated messages, lost output`],
    mayBeLost: () => false,
    heal: () => cuts.splice(opened),
    close: nothing,
    leftOverMs: LEFT_OVER_MS,
  };
}

async function connectAgain(connector: Connector): Promise<ExecServerClient> {
  for (;;) {
    try {
      return await ExecServerClient.connect(connector, { random: () => 0 });
    } catch {
      // The handshake was cut.
    }
  }
}

/** Output is numbered, so the client requests what is missing. */
const isOutput = (value: unknown): boolean =>
  typeof value === "object" && value !== null && "method" in value && value.method === "process/output";

/** Two streams, which end permanently when they break. */
export async function openStdio(server: ExecServer, { random, history }: TargetContext): Promise<Target> {
  const faults = createWirePlan(random.fork("wire"), { halfOpen: false })[0] ?? [];
  const [ours, client] = duplexPair();
  const [theirs, far] = duplexPair();
  let broken = false;
  const served = serveStdio(server, { input: theirs, output: theirs });
  relay(
    { client, server: far },
    {
      faults,
      breakWire(end) {
        broken = true;
        end.destroy();
      },
      note: (text) => history.note(`wire: ${text}`),
    },
  );
  const channel = createStdioChannel({ input: ours, output: ours });
  const plan = describeWirePlan([faults]);
  const end = async () => {
    await channel.close();
    await served;
  };
  try {
    const client = await ExecServerClient.connectInProcess(channel);
    return { client, plan, mayBeLost: () => broken, heal() {}, close: end, leftOverMs: LEFT_OVER_MS };
  } catch (error) {
    await end();
    throw error;
  }
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
