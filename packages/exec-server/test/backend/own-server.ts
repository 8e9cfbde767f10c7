import { createMemoryChannelPair } from "@codex/channel";
import type { Connector } from "@codex/exec-server-client";
import type { CapabilityName } from "@codex/exec-server-protocol";
import { createLocalBackend } from "@codex/process-host";
import { createEnvironmentInfo, createExecServer, type ExecServer, listenWebSocket } from "../../src/index.js";

/** The exec-server of this project with a backend of its own. */
export async function startOwnServer(
  capabilities: readonly CapabilityName[] = [],
): Promise<{ server: ExecServer; close(): Promise<void> }> {
  const backend = createLocalBackend();
  const info = await createEnvironmentInfo({ executorVersion: "0.169.0", capabilities });
  const server = createExecServer({ backend, environment: { info } });
  return {
    server,
    async close() {
      await server.close();
      await backend.close();
    },
  };
}

/** Connects to a server in this process; each connection is a pair of channels. */
export const connectorTo = (server: ExecServer): Connector => ({
  canReopen: true,
  async open() {
    const [ours, theirs] = createMemoryChannelPair();
    void server.serve(theirs, { transport: { kind: "websocket", peer: "memory" } });
    return ours;
  },
});

/** The server on a port of its own. */
export async function listenOwnServer(
  capabilities?: readonly CapabilityName[],
): Promise<{ url: string; close(): Promise<void> }> {
  const { server, close } = await startOwnServer(capabilities);
  const listener = await listenWebSocket(server, { host: "127.0.0.1", port: 0 });
  return {
    url: listener.url,
    async close() {
      await listener.close();
      await close();
    },
  };
}
