import { createWebSocketListener } from "@codex/channel/websocket";
import { createEnvironmentInfo, createExecServer } from "@codex/exec-server";
import type { CapabilityName } from "@codex/exec-server-protocol";
import { type CreateExecServer, createExecutor, createHostTools, type ExecutorOptions } from "@codex/executor";
import { createLocalBackend } from "@codex/process-host";
import { onTestFinished } from "vitest";
import { listenOwnServer } from "../../exec-server/test/backend/own-server.js";
import {
  createRemoteEnvironment,
  createWebSocketLink,
  type Environment,
  type HostTools,
  type RemoteEnvironmentOptions,
} from "../src/index.js";

/** As a program with `@codex/executor` has it. */
export const hostTools: HostTools = createHostTools();

/** An exec-server of this project on a websocket; closed at the end of the test. */
export async function listen(capabilities?: readonly CapabilityName[]): Promise<string> {
  const { url, close } = await listenOwnServer(capabilities);
  onTestFinished(close);
  return url;
}

/** An environment at an address; closed at the end of the test. */
export function environmentAt(url: string, options: Partial<RemoteEnvironmentOptions> = {}): Environment {
  const link = createWebSocketLink({ url, connectTimeoutMs: 5_000 });
  const environment = createRemoteEnvironment({ id: "remote", kind: "websocket", link, hostTools, ...options });
  onTestFinished(() => environment.close());
  return environment;
}

/** An executor on a websocket that accepts these subprotocols, by default none. The caller closes it. */
export async function openExecutor(
  options: Partial<ExecutorOptions> = {},
  subprotocols: readonly string[] = [],
): Promise<{ url: string; channels: () => number; close(): Promise<void> }> {
  const backend = createLocalBackend();
  const executor = createExecutor({ backend, ...options });
  let channels = 0;
  const listener = await createWebSocketListener({
    host: "127.0.0.1",
    port: 0,
    subprotocols,
    onChannel: (channel) => {
      channels += 1;
      void executor.serve(channel);
    },
  });
  return {
    url: listener.url,
    channels: () => channels,
    async close() {
      await listener.close();
      await executor.close();
      await backend.close();
    },
  };
}

/** The exec-server served by an executor. */
export const execServer: CreateExecServer = async () => {
  const backend = createLocalBackend();
  const info = await createEnvironmentInfo({ executorVersion: "0.169.0" });
  const server = createExecServer({ backend, environment: { info } });
  return {
    serve: (channel) => server.serve(channel, { transport: { kind: "socket", peer: "a tunnel" } }),
    async close() {
      await server.close();
      await backend.close();
    },
  };
};
