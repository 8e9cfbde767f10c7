import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import { describe, expect, it } from "vitest";
import { ENV } from "../../../process-host/test/support.js";
import { describeBackend } from "./body.js";
import { CODEX_BINARY, startCodexServer } from "./codex-server.js";

describe.skipIf(CODEX_BINARY === "")("codex exec-server, named by CODEX_BINARY", () => {
  describe.each([{ options: [] }, { options: ["--concurrent-requests", "8"] }])(
    "with options $options",
    ({ options }) => {
      describeBackend("a remote backend over a websocket", {
        extended: false,
        async open() {
          const server = await startCodexServer(...options);
          const client = await ExecServerClient.connectWebSocket(server.url);
          return {
            backend: createRemoteBackend(client),
            async close() {
              await client.close();
              await server.close();
            },
          };
        },
      });
    },
  );

  it("runs over stdio as a child of the client", async () => {
    const client = await ExecServerClient.spawnLocal({
      command: CODEX_BINARY,
      args: ["exec-server", "--listen", "stdio"],
      stderr: "ignore",
    });
    const backend = createRemoteBackend(client);
    const stdio = { kind: "pipe", stdin: "null" } as const;
    const process = await backend.start({ argv: ["sh", "-c", "echo hi; exit 3"], cwd: "/tmp", env: ENV, stdio });
    await process.closed;
    expect(process.outcome).toEqual({ kind: "exited", code: 3 });
    const lost = await backend.start({ argv: ["sleep", "30"], cwd: "/tmp", env: ENV, stdio });
    await client.close();
    expect(["exited", "lost"]).toContain((await lost.exited).kind);
  });
});
