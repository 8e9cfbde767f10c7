import { PassThrough } from "node:stream";
import { createWebSocketListener } from "@codex/channel/websocket";
import { serveStdio } from "@codex/exec-server";
import { describe, expect, it } from "vitest";
import { startOwnServer } from "../../../exec-server/test/backend/own-server.js";
import { ENV, outputOf } from "../../../process-host/test/support.js";
import { createRemoteBackend } from "../../src/backend/remote-backend.js";
import { ExecServerClient } from "../../src/exec-server-client.js";
import { useClients } from "../scripted-server.js";

describe("a client", () => {
  const own = useClients();

  it("reports that nothing listens there", async () => {
    const connecting = ExecServerClient.connectWebSocket("ws://127.0.0.1:1");
    await expect(connecting).rejects.toMatchObject({ name: "ChannelError", code: "connect_failed" });
  });

  it("brings its token, fetched again for each connection", async () => {
    const { server, close } = await startOwnServer();
    const seen: (string | undefined)[] = [];
    const listener = await createWebSocketListener({
      host: "127.0.0.1",
      port: 0,
      authorize: ({ headers }) => {
        seen.push(headers.authorization);
        return headers.authorization === undefined ? { ok: false, status: 401, message: "no token" } : { ok: true };
      },
      onChannel: (channel) => void server.serve(channel, { transport: { kind: "websocket", peer: "test" } }),
    });
    let calls = 0;
    const token = () => `secret-${++calls}`;
    await own(ExecServerClient.connectWebSocket(listener.url, { token }));
    await own(ExecServerClient.connectWebSocket(listener.url, { token }));
    await expect(ExecServerClient.connectWebSocket(listener.url)).rejects.toMatchObject({ code: "unauthorized" });
    expect(seen).toEqual(["Bearer secret-1", "Bearer secret-2", undefined]);
    await listener.close();
    await close();
  });

  it("speaks over two streams", async () => {
    const { server, close } = await startOwnServer();
    const [up, down] = [new PassThrough(), new PassThrough()];
    const served = serveStdio(server, { input: up, output: down });
    const client = await ExecServerClient.connectStdio({ input: down, output: up });
    const backend = createRemoteBackend(client);
    const stdio = { kind: "pipe", stdin: "null" } as const;
    const process = await backend.start({ argv: ["echo", "hi"], cwd: "/tmp", env: ENV, stdio });
    expect(await outputOf(process)).toBe("hi\n");
    expect(await client.list()).toMatchObject([{ running: false, exitCode: 0, closed: true, nextSeq: 4 }]);
    await client.close();
    await served;
    await close();
    await expect(client.environment.info()).rejects.toMatchObject({ name: "ClientError", code: "closed" });
  });

  it("says that its server could not be started, or has ended", async () => {
    const missing = ExecServerClient.spawnLocal({ command: "/no/such/server" });
    await expect(missing).rejects.toMatchObject({ name: "ClientError", code: "spawn_failed" });
    const ended = ExecServerClient.spawnLocal({ command: "true" });
    await expect(ended).rejects.toMatchObject({ name: "ChannelError", code: "closed" });
  });

  it("ends what runs when it is closed", async () => {
    const { server, close } = await startOwnServer();
    const [up, down] = [new PassThrough(), new PassThrough()];
    void serveStdio(server, { input: up, output: down });
    const client = await ExecServerClient.connectStdio({ input: down, output: up });
    const process = await createRemoteBackend(client).start({
      argv: ["sleep", "30"],
      cwd: "/tmp",
      env: ENV,
      stdio: { kind: "pipe", stdin: "null" },
    });
    await client.close();
    expect(process.outcome).toMatchObject({ kind: "signaled", signal: "SIGKILL" });
    await close();
  });
});
