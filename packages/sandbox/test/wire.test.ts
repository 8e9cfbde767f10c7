import { existsSync } from "node:fs";
import { join } from "node:path";
import { createRemoteBackend, ExecServerClient, type RemoteBackend } from "@codex/exec-server-client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectorTo, startOwnServer } from "../../exec-server/test/backend/own-server.js";
import { ENV, outputOf } from "../../process-host/test/support.js";
import { entry, NO_BUBBLEWRAP, READ_ALL, restrict, useSandbox } from "./support.js";

const PIPE = { kind: "pipe", stdin: "null" } as const;

describe("a sandbox over the wire", () => {
  const workspace = useSandbox();
  let server: Awaited<ReturnType<typeof startOwnServer>>;
  let client: ExecServerClient;
  let backend: RemoteBackend;
  beforeAll(async () => {
    server = await startOwnServer();
    client = await ExecServerClient.connect(connectorTo(server.server));
    backend = createRemoteBackend(client);
  });
  afterAll(async () => {
    await backend.close();
    await client.close();
    await server.close();
  });
  const start = (script: string, sandbox: ReturnType<typeof restrict>) =>
    backend.start({ argv: ["bash", "-c", script], cwd: workspace.base, env: ENV, stdio: PIPE, sandbox });

  describe.skipIf(NO_BUBBLEWRAP !== undefined)(NO_BUBBLEWRAP ?? "with bubblewrap", () => {
    it("holds a process, and is named", async () => {
      const inside = join(workspace.base, "a ü");
      const sandbox = restrict([READ_ALL, entry(workspace.base, "write")], { cwd: workspace.base });
      const process = await start(`echo x > '${inside}'; echo x > /usr/codex-test`, sandbox);
      expect(await outputOf(process)).toContain("Read-only file system");
      expect(existsSync(inside)).toBe(true);
      expect(process.sandboxType).toBe("linuxSeccomp");
      expect(process.outcome).toEqual({ kind: "exited", code: 1 });
    });

    it("is refused where it could not be enforced, and nothing runs", async () => {
      const marker = join(workspace.base, "ran");
      const sandbox = restrict([READ_ALL, { path: { type: "glob_pattern", pattern: "/tmp/*" }, access: "write" }]);
      await expect(start(`touch ${marker}`, sandbox)).rejects.toMatchObject({ code: "sandbox_invalid" });
      expect(existsSync(marker)).toBe(false);
    });
  });

  it("is none for permissions disabled", async () => {
    const process = await start("true", { permissions: { type: "disabled" } });
    await process.exited;
    expect(process.sandboxType).toBeUndefined();
    expect(process.denial).toBeUndefined();
  });

  it.each([
    ["cwd", { cwd: "file:///tmp/%FF" }],
    ["permissions", { permissions: { entries: ["file:///tmp/%FF"] } }],
  ])(
    "refuses a path that is no UTF-8 in %s",
    async (member, { cwd, permissions }: { cwd?: string; permissions?: { entries: string[] } }) => {
      const entries = (permissions?.entries ?? []).map((path) => ({ path: { type: "path", path }, access: "write" }));
      const sandbox = {
        permissions: { type: "managed", file_system: { type: "restricted", entries }, network: "restricted" },
        windowsSandboxLevel: "disabled",
        cwd,
      };
      const params = { processId: `p-${member}`, argv: ["true"], cwd: "file:///tmp", env: ENV, tty: false, sandbox };
      await expect(client.call("process/start", params)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringMatching(new RegExp(`sandbox.${member} .*not UTF-8`)),
      });
    },
  );
});
