import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { connectWebSocketChannel } from "@codex/channel/websocket";
import { describe, expect, it, onTestFinished } from "vitest";
import { finish, useCommand } from "../support.js";

describe("codex rendezvous", () => {
  const command = useCommand();

  const listen = async (args: readonly string[] = [], env: Record<string, string> = {}) => {
    const child = command.start(["rendezvous", "--listen", "http://127.0.0.1:0", ...args], env);
    const finished = finish(child);
    const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    return { child, url, finished };
  };

  const register = (url: string, id: string, token?: string) =>
    fetch(`${url}/cloud/environment/${id}/register`, {
      method: "POST",
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });

  it("says where it listens, answers, and ends with a signal while an executor is connected", async () => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) {
      const { child, url, finished } = await listen();
      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      const answer = (await (await register(url, "env-1")).json()) as { url: string };
      const channel = await connectWebSocketChannel(answer.url);
      child.kill(signal);
      await channel.closed;
      expect(await finished).toMatchObject({ code: 0, signal: null, stdout: Buffer.from(`${url}\n`), stderr: "" });
    }
  });

  it("ends with a signal while it waits for a NATS that says nothing", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const connected = once(server, "connection");
    const { port } = server.address() as AddressInfo;
    const child = command.start(["rendezvous", "--nats", `nats://127.0.0.1:${port}`]);
    const finished = finish(child);
    const [socket] = (await connected) as [Socket];
    onTestFinished(() => {
      socket.destroy();
      server.close();
    });
    child.kill("SIGTERM");
    expect(await finished).toMatchObject({ code: null, signal: "SIGTERM", stderr: "" });
  });

  it("takes tokens from variables and from a file, which it reads again", async () => {
    const directory = mkdtempSync(join(tmpdir(), "tokens "));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, "tokens");
    const line = (token: string, scope: string) => `${createHash("sha256").update(token).digest("hex")} ${scope}\n`;
    writeFileSync(file, line("from-file", "environment:env-2:register"));
    const { url } = await listen(["--token-file", file], {
      RENDEZVOUS_EXECUTOR_TOKEN: " from-variable ",
      RENDEZVOUS_HARNESS_TOKEN: "harness",
    });
    const status = async (id: string, token?: string) => (await register(url, id, token)).status;
    expect(await status("env-1")).toBe(401);
    expect(await status("env-1", "from-variable")).toBe(200);
    expect(await status("env-1", "harness")).toBe(403);
    expect(await status("env-2", "from-file")).toBe(200);
    expect(await status("env-1", "from-file")).toBe(403);
    writeFileSync(file, line("another", "environment:*:register"));
    await expect.poll(() => status("env-2", "from-file")).toBe(401);
    expect(await status("env-1", "another")).toBe(200);
  });

  it("counts, for who may read it", async () => {
    const { url } = await listen();
    await register(url, "a.b");
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('codex_rendezvous_refusals_total{reason="bad_environment_id"} 1');
    expect(metrics).toMatch(/codex_build_info\{version="[^"]+",role="rendezvous"\} 1/);
    const guarded = await listen(["--metrics"], { RENDEZVOUS_EXECUTOR_TOKEN: "t" });
    expect((await fetch(`${guarded.url}/metrics`)).status).toBe(401);
  });

  it.each([
    [
      ["--listen", "http://0.0.0.0:0"],
      "it needs tokens (--token-file, --jwks-file, RENDEZVOUS_EXECUTOR_TOKEN and RENDEZVOUS_HARNESS_TOKEN) and TLS (--tls-cert",
    ],
    [["--behind-proxy"], "it needs tokens"],
    [["--listen", "ws://127.0.0.1:0"], "expected http://HOST:PORT or https://HOST:PORT with a port from 0 to 65535"],
    [["--listen", "http://127.0.0.1:65536"], "expected http://HOST:PORT"],
    [["--listen", "https://127.0.0.1:0"], "--listen https:// needs --tls-cert and --tls-key"],
    [["--tls-cert", "x"], "--tls-cert also needs --tls-key"],
    [["--public-url", "meet.example"], "expected http://HOST or https://HOST"],
    [["--token-file", "/nowhere"], "/nowhere cannot be used: ENOENT"],
    [["--nats", "user:secret@host"], "codex: --nats: expected nats://[USER:PASSWORD@]HOST[:PORT][/NAME], or tls://"],
    [["--jwt-issuer", "https://id.example"], "--jwks-file, --jwt-issuer and --jwt-audience are needed together"],
  ])("refuses %j", async (args, message) => {
    const { code, stdout, stderr } = await command.run(["rendezvous", "--listen", "http://127.0.0.1:0", ...args]);
    expect([code, stdout.toString()]).toEqual([2, ""]);
    expect(stderr).toContain(message);
  });

  it("beyond loopback needs TLS beside tokens", async () => {
    const child = command.start(["rendezvous", "--listen", "http://0.0.0.0:0"], { RENDEZVOUS_EXECUTOR_TOKEN: "t" });
    const { code, stderr } = await finish(child);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("it needs TLS (--tls-cert and --tls-key, or --behind-proxy"),
    ]);
  });

  it("has its address to itself", async () => {
    const { url } = await listen();
    const { code, stderr } = await command.run(["rendezvous", "--listen", url]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("cannot listen on 127.0.0.1 port")]);
  });
});
