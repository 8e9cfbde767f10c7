import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type Channel, createMemoryChannelPair, createStdioChannel } from "@codex/channel";
import { connectWebSocketChannel, createWebSocketListener } from "@codex/channel/websocket";
import { createEnvironmentInfo, createExecServer } from "@codex/exec-server";
import { ExecServerClient } from "@codex/exec-server-client";
import { createExecutor, type ExecutorOptions, type HostedExecServer } from "@codex/executor";
import { type AttachedExecutor, type AttachOptions, createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";
import { afterEach } from "vitest";
import { type CuttingProxy, createCuttingProxy } from "../../src/index.js";

const opened: (() => unknown)[] = [];

/** Called after the test, last first. */
export function closeAfterTest(close: () => unknown): void {
  opened.push(close);
}

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

export function createDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), "codex tunnel "));
  closeAfterTest(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** An executor over real processes, with the exec-server of the same host beside it. */
export function createHost(options: Partial<ExecutorOptions> = {}) {
  const backend = createLocalBackend();
  closeAfterTest(() => backend.close());
  let created = 0;
  let closed = 0;
  const createServer = async (): Promise<HostedExecServer> => {
    created += 1;
    const info = await createEnvironmentInfo({ executorVersion: "0.169.0" });
    const server = createExecServer({ backend, environment: { info } });
    return {
      serve: (channel) => server.serve(channel, { transport: { kind: "socket", peer: "a tunnel" } }),
      async close() {
        closed += 1;
        await server.close();
      },
    };
  };
  const executor = createExecutor({ backend, execServer: createServer, ...options });
  closeAfterTest(() => executor.close());
  return {
    executor,
    /** Exec-servers so far. */
    get created() {
      return created;
    },
    get closed() {
      return closed;
    },
  };
}

export type Host = ReturnType<typeof createHost>;

/** An orchestrator that lets everything run. */
export async function attach(options: Omit<AttachOptions, "name">) {
  const orchestrator = createOrchestrator({
    policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
  });
  closeAfterTest(() => orchestrator.close());
  const attached = await orchestrator.attach({ name: "far", ...options });
  return { orchestrator, attached };
}

/** A client that opens another tunnel when one is lost. */
export async function connectClient(attached: AttachedExecutor): Promise<ExecServerClient> {
  const open = (signal: AbortSignal) => attached.openExecServer({ signal });
  const client = await ExecServerClient.connect({ canReopen: true, open });
  closeAfterTest(() => client.close());
  return client;
}

/** Every kind of channel: how an orchestrator reaches the executor. */
export const TRANSPORTS = [
  {
    name: "memory",
    async open({ executor }: Host): Promise<Omit<AttachOptions, "name">> {
      const [ours, theirs] = createMemoryChannelPair();
      void executor.serve(theirs);
      return { channel: ours };
    },
  },
  {
    name: "stdio",
    async open({ executor }: Host): Promise<Omit<AttachOptions, "name">> {
      const there = new PassThrough();
      const back = new PassThrough();
      void executor.serve(createStdioChannel({ input: there, output: back }), { resumable: false });
      return { channel: createStdioChannel({ input: back, output: there }) };
    },
  },
  {
    name: "websocket",
    async open(host: Host): Promise<Omit<AttachOptions, "name">> {
      const url = await listen(host);
      return { reconnect: () => connectWebSocketChannel(url) };
    },
  },
] as const;

async function listen({ executor }: Host): Promise<string> {
  const serve = (channel: Channel) => void executor.serve(channel);
  const listener = await createWebSocketListener({ port: 0, onChannel: serve });
  closeAfterTest(() => listener.close());
  return listener.url;
}

/** A websocket that breaks when the test says so, and the options that connect through it. */
export async function listenBehindProxy(
  host: Host,
): Promise<{ proxy: CuttingProxy; options: Omit<AttachOptions, "name"> }> {
  const proxy = await createCuttingProxy(await listen(host));
  closeAfterTest(() => proxy.close());
  return { proxy, options: { reconnect: () => connectWebSocketChannel(proxy.url) } };
}
