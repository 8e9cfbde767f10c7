import { type Channel, createStdioChannel } from "@codex/channel";
import { createWebSocketListener } from "@codex/channel/websocket";
import { createExecutor, createRandomIds, type Executor } from "@codex/executor";
import { connectWebSocket, createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";
import type { Random } from "../random.js";
import { withoutBinary } from "../without-binary.js";
import { duplexPair } from "./duplex-pair.js";
import { createFaultProxy } from "./fault-proxy.js";
import { relay } from "./faulty-relay.js";
import type { RunTarget, TargetContext } from "./run-seed.js";
import { createWirePlan, describeWirePlan } from "./wire-fault.js";

/** An orchestrator over a faulty connection. */
export interface ExecutorTarget extends RunTarget {
  orchestrator: Orchestrator;
}

/** A listening executor, shared by many runs. */
export interface ListeningExecutor {
  url: string;
  close(): Promise<void>;
}

/** Milliseconds in which a lost channel can be resumed. */
const GRACE_MS = 15_000;
const LEFT_OVER_MS = 10_000;
const GIVEN_UP_MS = 2 * GRACE_MS + LEFT_OVER_MS;

/** @param resumable whether sessions outlive their channel */
export async function listenExecutor({ resumable }: { resumable: boolean }): Promise<ListeningExecutor> {
  const executor = newExecutor(resumable ? GRACE_MS : 0);
  const listener = await createWebSocketListener({
    host: "127.0.0.1",
    port: 0,
    onChannel: (channel) => void executor.serve(channel),
  });
  return {
    url: listener.url,
    async close() {
      await listener.close();
      await executor.close();
    },
  };
}

/** An executor that reuses the ids of earlier sessions as soon as allowed. */
const newExecutor = (resumeGraceMs: number): Executor =>
  createExecutor({
    backend: () => createLocalBackend(),
    resumeGraceMs,
    ids: createRandomIds(() => 0),
    limits: { sessions: 64, recentSessions: 1 },
  });

const newOrchestrator = (): Orchestrator =>
  createOrchestrator({
    policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
    defaults: { timings: { reconnectBaseMs: 5, reconnectMaxMs: 50 } },
  });

/** Chooses the form of live output for each connection: binary frames, or JSON as in older versions. */
function createForm(random: Random, note: (text: string) => void): (channel: Channel) => Channel {
  const forms = random.fork("form");
  return (channel) => {
    const isBinary = forms.chance(0.7);
    note(`live output: ${isBinary ? "binary" : "JSON"}`);
    return isBinary ? channel : withoutBinary(channel);
  };
}

/** A websocket with reconnects: nothing may be lost. */
export async function openResumed(url: string, { random, history }: TargetContext): Promise<ExecutorTarget> {
  const form = createForm(random, (text) => history.note(text));
  const plan = createWirePlan(random.fork("wire"));
  const proxy = await createFaultProxy(url, plan, (text) => history.note(text));
  const orchestrator = await attach(() => ({
    name: "main",
    reconnect: async (signal) => form(await connectWebSocket(proxy.url, { signal })),
  }));
  const isHalfOpen = plan.flat().some(({ kind }) => kind === "half_open");
  return {
    orchestrator,
    plan: describeWirePlan(plan),
    mayBeLost: () => false,
    heal: () => proxy.heal(),
    close: () => proxy.close(),
    leftOverMs: isHalfOpen ? GIVEN_UP_MS : LEFT_OVER_MS,
  };
}

/** A single websocket: its end ends everything, and is reported as a loss. */
export async function openOnce(url: string, { random, history }: TargetContext): Promise<ExecutorTarget> {
  const form = createForm(random, (text) => history.note(text));
  const plan = createWirePlan(random.fork("wire"), { halfOpen: false });
  const proxy = await createFaultProxy(url, plan, (text) => history.note(text));
  const orchestrator = await attach(() => ({ name: "main", channel: connectWebSocket(proxy.url).then(form) }));
  return {
    orchestrator,
    plan: describeWirePlan(plan),
    mayBeLost: () => true,
    heal: () => proxy.heal(),
    close: () => proxy.close(),
    leftOverMs: LEFT_OVER_MS,
  };
}

/** Retries the first connections, which may break during initialization. */
async function attach(options: () => Parameters<Orchestrator["attach"]>[0]): Promise<Orchestrator> {
  for (let attempt = 1; ; attempt += 1) {
    const orchestrator = newOrchestrator();
    try {
      await orchestrator.attach(options());
      return orchestrator;
    } catch (error) {
      await orchestrator.close();
      if (attempt === 20) throw error;
    }
  }
}

/** Two streams, which end permanently when they break. */
export async function openStreams({ random, history }: TargetContext): Promise<ExecutorTarget> {
  const faults = createWirePlan(random.fork("wire"), { halfOpen: false })[0] ?? [];
  const [ours, near] = duplexPair();
  const [theirs, far] = duplexPair();
  const executor = newExecutor(GRACE_MS);
  const serving = createStdioChannel({ input: theirs, output: theirs });
  const served = executor.serve(serving, { resumable: false });
  const breakWire = (end: { destroy(): unknown }) => void end.destroy();
  relay({ client: near, server: far }, { faults, breakWire, note: (text) => history.note(`wire: ${text}`) });
  const form = createForm(random, (text) => history.note(text));
  const channel = form(createStdioChannel({ input: ours, output: ours }));
  const orchestrator = newOrchestrator();
  const end = async () => {
    await orchestrator.close();
    await served;
    await executor.close();
  };
  try {
    await orchestrator.attach({ name: "main", channel });
  } catch (error) {
    await end();
    throw error;
  }
  return {
    orchestrator,
    plan: describeWirePlan([faults]),
    mayBeLost: () => true,
    heal() {},
    close: end,
    leftOverMs: LEFT_OVER_MS,
  };
}
