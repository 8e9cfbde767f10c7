import { once } from "node:events";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { DEFAULT_RENDEZVOUS_LIMITS, resolveLimits } from "../../src/limits.js";
import { listenRendezvous } from "../../src/listen.js";
import { Rendezvous } from "../../src/rendezvous.js";
import { makeKey, registerBody, send, startRendezvous } from "../support.js";

const REGISTER = "/cloud/environment/env-1/register";

/** Writes bytes to a listener, and returns all that it answers until it closes. */
async function exchange(url: string, ...parts: string[]): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => {});
  await once(socket, "connect");
  for (const part of parts) socket.write(part);
  return text(socket);
}

const head = (lines: readonly string[]): string => `${lines.join("\r\n")}\r\n\r\n`;

describe("requests", () => {
  it("for health and readiness are answered to everybody", async () => {
    const { url, rendezvous } = await startRendezvous();
    const get = async (path: string) =>
      (await send(url, { path, headers: { host: "some.name", origin: "http://x" } })).status;
    expect([await get("/readyz"), await get("/healthz")]).toEqual([200, 200]);
    rendezvous.drain();
    expect([await get("/readyz"), await get("/healthz")]).toEqual([503, 200]);
  });

  it("for metrics get what was counted", async () => {
    const { url, post } = await startRendezvous();
    await post("/cloud/environment/%2e/register", "");
    const { hostname, port } = new URL(url);
    const answer = await exchange(url, head(["GET /metrics HTTP/1.1", `Host: ${hostname}:${port}`]));
    expect(answer).toContain('codex_rendezvous_refusals_total{reason="bad_environment_id"} 1');
    expect(answer).toContain('codex_rendezvous_executors_live{transport="noise"} 0');
  });

  it("with another method or at another path are refused", async () => {
    const { url } = await startRendezvous();
    const status = async (method: string, path: string) => (await send(url, { method, path })).status;
    expect(await status("GET", REGISTER)).toBe(405);
    expect(await status("POST", "/metrics")).toBe(405);
    expect(await status("GET", "/")).toBe(404);
    expect(await status("GET", "/direct/env-1")).toBe(426);
    expect(await status("GET", "/__proto__")).toBe(404);
  });

  it("of web pages are refused, whatever name leads here", async () => {
    const { post } = await startRendezvous();
    const code = async (headers: Record<string, string>) =>
      (await post(REGISTER, registerBody(), headers)).body.error?.code;
    expect(await code({ origin: "http://127.0.0.1" })).toBe("browser");
    expect(await code({ host: "evil.example" })).toBe("browser");
    expect(await code({ host: "localhost:80" })).toBeUndefined();
  });

  it("name the version of the protocol, or take the one there is", async () => {
    const { post } = await startRendezvous();
    const ask = async (version: string) =>
      (await post(REGISTER, registerBody(), { "codex-rendezvous-version": version })).status;
    expect([await ask("1"), await ask("2"), await ask("")]).toEqual([200, 400, 400]);
  });

  it("get a URL of the host that they name, or of the public one", async () => {
    const { post } = await startRendezvous();
    const urlFor = async (host: string) => (await post(REGISTER, registerBody(), { host })).body.url;
    expect(await urlFor("localhost:9999")).toMatch(/^ws:\/\/localhost:9999\/relay\/env-1\/executor\?/);
    expect(await urlFor("[::1]:9999")).toMatch(/^ws:\/\/\[::1\]:9999\//);
    const rendezvous = new Rendezvous();
    const listener = await listenRendezvous(rendezvous, { publicUrl: "https://meet.example/at/" });
    onTestFinished(() => listener.close());
    const body = JSON.stringify(registerBody());
    expect((await send(listener.url, { method: "POST", path: REGISTER, body })).body.url).toMatch(
      /^wss:\/\/meet\.example\/at\/relay\/env-1\/executor\?ticket=/,
    );
  });
});

describe("bodies", () => {
  it("over the limit are refused, whether their length is said or not", async () => {
    const { post, url, count } = await startRendezvous();
    const { maxBodyBytes } = DEFAULT_RENDEZVOUS_LIMITS;
    const body = JSON.stringify({ harness_public_key: makeKey(), padding: "x".repeat(maxBodyBytes) });
    expect((await post(REGISTER, body)).body.error?.code).toBe("body_too_large");
    const chunk = `${(100_000).toString(16)}\r\n${"x".repeat(100_000)}\r\n`;
    const start = head([`POST ${REGISTER} HTTP/1.1`, "Host: 127.0.0.1", "Transfer-Encoding: chunked"]);
    expect(await exchange(url, start, chunk, "0\r\n\r\n")).toMatch(/^HTTP\/1\.1 413 /);
    expect(count("refusals_total", "body_too_large")).toBe(2);
  });

  it("that do not come in time are not waited for", async () => {
    const { url } = await startRendezvous({ limits: { bodyDeadlineMs: 50 } });
    const start = head([`POST ${REGISTER} HTTP/1.1`, "Host: 127.0.0.1", "Content-Length: 100"]);
    expect(await exchange(url, start, "{")).toMatch(/^HTTP\/1\.1 408 [\s\S]*"too_slow"/);
  });

  it("of a client that goes away are forgotten", async () => {
    const { url, post } = await startRendezvous({ limits: { maxRequests: 1 } });
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(head([`POST ${REGISTER} HTTP/1.1`, "Host: 127.0.0.1", "Content-Length: 100"]));
    await expect.poll(async () => (await post(REGISTER, registerBody())).body.error?.code).toBe("too_busy");
    socket.destroy();
    await expect.poll(async () => (await post(REGISTER, registerBody())).status).toBe(200);
  });
});

describe("headers", () => {
  it.each([
    ["two lengths", ["Content-Length: 5", "Content-Length: 6"]],
    ["a length and chunks", ["Content-Length: 5", "Transfer-Encoding: chunked"]],
    ["chunks in disguise", ["Transfer-Encoding: xchunked"]],
    ["chunks twice", ["Transfer-Encoding: chunked", "Transfer-Encoding: identity"]],
    ["a blank before the colon", ["Content-Length : 5"]],
    ["a folded line", ["X-Folded: a", " b"]],
    ["two tokens", ["Authorization: Bearer a", "Authorization: Bearer b", "Content-Length: 0"]],
    ["two hosts", ["Host: localhost", "Content-Length: 0"]],
    ["a bare line feed", ["X-A: b\nX-B: c", "Content-Length: 0"]],
  ])("with %s are refused, and nothing that follows is taken for a request", async (_, lines) => {
    const { url, count } = await startRendezvous();
    const smuggled = head(["GET /healthz HTTP/1.1", "Host: 127.0.0.1"]);
    const answer = await exchange(url, head([`POST ${REGISTER} HTTP/1.1`, "Host: 127.0.0.1", ...lines]) + smuggled);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect([answer.match(/HTTP\/1\.1/g)?.length, count("registrations_total")]).toEqual([1, 0]);
  });

  it("over the limit, or slow ones, end the connection", async () => {
    const { url } = await startRendezvous({ limits: { headDeadlineMs: 100 } });
    expect(await exchange(url, `GET /healthz HTTP/1.1\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431 /,
    );
    expect(await exchange(url, "GET /healthz HTTP/1.1\r\nX-Slow: ")).toMatch(/^HTTP\/1\.1 408 /);
  });

  it.each([
    ["another version", { "Sec-WebSocket-Version": "8" }],
    ["no key", { "Sec-WebSocket-Key": "" }],
    ["another protocol", { Upgrade: "h2c" }],
  ])("of an upgrade with %s are refused", async (_, more) => {
    const { url } = await startRendezvous();
    const headers = {
      Host: "127.0.0.1",
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Version": "13",
      "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
      ...more,
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    expect(await exchange(url, head(["GET /direct/env-1 HTTP/1.1", ...lines]))).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("limits", () => {
  it("are positive whole numbers", () => {
    expect(resolveLimits({ maxHarnesses: 3 })).toEqual({ ...DEFAULT_RENDEZVOUS_LIMITS, maxHarnesses: 3 });
    for (const value of [0, -1, 1.5, Number.NaN]) {
      expect(() => resolveLimits({ leaseMs: value })).toThrow(
        `rendezvous limit \`leaseMs\` must be a positive integer, got ${value}`,
      );
    }
  });
});
