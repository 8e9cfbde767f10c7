import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import { createCuttingProxy } from "@codex/testkit";
import { describe, expect, it, onTestFinished } from "vitest";
import { ENV, untilOutput } from "../../../process-host/test/support.js";
import { CODEX_BINARY, startCodexServer } from "./codex-server.js";
import { describeCuts } from "./cuts.js";
import { listenOwnServer } from "./own-server.js";

describeCuts("a connection to our server", listenOwnServer);

// Codex 0.169.0 refuses to resume a session as long as it has not noticed that the former connection is dead.
it("a connection to our server that died silently is resumed, whether or not anything is asked of it", async () => {
  const server = await listenOwnServer();
  onTestFinished(() => server.close());
  const proxy = await createCuttingProxy(server.url);
  onTestFinished(() => proxy.close());
  const client = await ExecServerClient.connectWebSocket(proxy.url, { livenessMs: 1_000 });
  onTestFinished(() => client.close());
  const spec = { argv: ["cat"], cwd: "/tmp", env: ENV, stdio: { kind: "pipe", stdin: "open" } } as const;
  const process = await createRemoteBackend(client).start(spec);
  proxy.stall();
  await process.write(Buffer.from("asked\n"));
  await untilOutput(process, "asked\n");
  const { connections } = proxy;
  proxy.stall();
  await expect.poll(() => proxy.connections, { timeout: 15_000 }).toBeGreaterThan(connections);
});

describe.skipIf(CODEX_BINARY === "")("with CODEX_BINARY", () => {
  describeCuts("a connection to codex exec-server", () => startCodexServer(), { evicts: true });
});
