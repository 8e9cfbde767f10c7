import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listenMcp, type McpListenOptions } from "@codex/mcp/http";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { MAX_HTTP_SESSIONS } from "../../src/limits.js";
import { createClient, type Decide, ERAS, type Era, listRunning, open, textOf } from "../support.js";

async function listen(options: McpListenOptions & { approvalPolicy?: "never" | "untrusted" } = {}) {
  const { approvalPolicy = "never", ...rest } = options;
  const { orchestrator, servers } = await open({ approvalPolicy });
  const listener = await listenMcp(servers, rest);
  onTestFinished(() => listener.close());
  const connect = async (era: Era, decide?: Decide, token?: string) => {
    const client = createClient(era, decide);
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const transport = new StreamableHTTPClientTransport(new URL(listener.url), { requestInit: { headers } });
    await client.connect(transport);
    onTestFinished(() => client.close());
    return { client, transport };
  };
  return { orchestrator, servers, url: listener.url, connect, listener };
}

const exec = (client: Client, cmd: string, more: object = {}) =>
  client.callTool({ name: "exec_command", arguments: { cmd, ...more } });

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "codex-mcp-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

const INITIALIZE = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
});

const HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** `fetch` does not send a `Host` of the caller. */
function send(url: string, headers: Record<string, string>, body = INITIALIZE): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", headers: { ...HEADERS, ...headers } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

it("answers health probes, which need no token and say nothing", async () => {
  const { url } = await listen({ tokens: [{ token: "t", client: "c" }] });
  for (const path of ["/healthz", "/readyz"]) {
    const response = await fetch(new URL(path, url));
    expect([response.status, await response.text()]).toEqual([200, ""]);
  }
  expect((await fetch(new URL("/healthz", url), { method: "POST" })).status).toBe(404);
  expect((await fetch(url)).status).toBe(401);
});

describe.each(ERAS)("MCP over HTTP, %s", (era) => {
  it("asks for approval, and runs once and only what was shown", async () => {
    const file = join(temporary(), "ran");
    const { connect } = await listen({ approvalPolicy: "untrusted" });
    const { client } = await connect(era, () => ({ action: "accept", content: { decision: "accept" } }));
    expect(textOf(await exec(client, `echo once >> ${file}`))).toMatch(/Process exited with code 0/);
    expect(readFileSync(file, "utf8")).toBe("once\n");
  });

  it("keeps a session over calls, and ends it with the MCP session if there is one", async () => {
    const { connect, orchestrator } = await listen();
    const { client, transport } = await connect(era);
    await exec(client, "exec cat", { stdin: "open", yield_time_ms: 250 });
    expect(textOf(await client.callTool({ name: "list_sessions", arguments: {} }))).toMatch(/running/);
    if (era === "legacy") await transport.terminateSession();
    const expected = era === "legacy" ? 0 : 1;
    await expect.poll(async () => (await listRunning(orchestrator, "executor")).length).toBe(expected);
  });

  it("cancels the wait of a client that disconnects", async () => {
    const { connect, orchestrator } = await listen();
    const { client } = await connect(era);
    const other = await connect(era);
    const abort = new AbortController();
    const args = { cmd: "echo up; exec cat", stdin: "open", yield_time_ms: 30_000 };
    const options = { signal: abort.signal, onprogress: () => abort.abort() };
    await expect(client.callTool({ name: "exec_command", arguments: args }, options)).rejects.toThrow();
    const next = era === "legacy" ? client : other.client;
    await expect.poll(async () => textOf(await exec(next, "true"))).toMatch(/^Note: an earlier call was cancelled/);
    expect(await listRunning(orchestrator, "executor")).toHaveLength(1);
  });
});

describe("an HTTP listener", () => {
  it.each([
    ["a foreign host", { host: "evil.example" }, 403],
    ["the page of another site", { origin: "https://evil.example" }, 403],
    ["a page of another port", { origin: "http://127.0.0.1:1" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
    ["an unknown session", { "mcp-session-id": "unknown" }, 404],
    ["another content type", { "content-type": "text/plain" }, 415],
  ])("refuses %s", async (_what, headers, status) => {
    const { url } = await listen();
    expect(await send(url, headers)).toBe(status);
  });

  it("ends no program for sessions that run nothing", async () => {
    const { url, connect, orchestrator } = await listen();
    const { client } = await connect("legacy");
    await exec(client, "exec cat", { stdin: "open", yield_time_ms: 250 });
    await client.close(); // its MCP session is kept
    for (let count = 0; count < MAX_HTTP_SESSIONS + 8; count += 1) expect(await send(url, {})).toBe(200);
    expect(await listRunning(orchestrator, "executor")).toHaveLength(1);
  });

  it("ends no program for sessions that are in use but run nothing", async () => {
    const { url, connect, orchestrator } = await listen();
    const { client } = await connect("legacy");
    await exec(client, "exec cat", { stdin: "open", yield_time_ms: 250 });
    await client.close();
    for (let count = 1; count < MAX_HTTP_SESSIONS; count += 1) await (await connect("legacy")).client.ping();
    expect(await send(url, {})).toBe(503);
    expect(await listRunning(orchestrator, "executor")).toHaveLength(1);
  });

  it("serves names that are allowed, and no other path", async () => {
    const { url } = await listen({ allowedHosts: ["build-1.example"] });
    expect(await send(url, { host: "build-1.example:8080" })).toBe(200);
    expect(await send(url, { host: new URL(url).host, origin: new URL(url).origin })).toBe(200);
    expect(await send(url.replace("/mcp", "/other"), {})).toBe(404);
  });

  it.each([
    ["{", 400],
    ["[]", 400],
    ['{"jsonrpc":"2.0","id":1,"method":"tools/list"}', 400],
    [`"${"a".repeat(5 * 1024 * 1024)}"`, 413],
  ])("refuses a body that is no request: %.20j", async (body, status) => {
    const { url } = await listen();
    // The connection may be reset while a body that is too long is still sent.
    const answered = send(url, {}, body).catch((error: NodeJS.ErrnoException) => error.code);
    expect([status, "EPIPE", "ECONNRESET"]).toContain(await answered);
  });

  it("serves clients with a token only, each blind to the others", async () => {
    const tokens = ["one", "two"].map((name) => ({ token: `token-${name}`, client: name }));
    const { url, connect } = await listen({ tokens });
    expect(await send(url, {})).toBe(401);
    expect(await send(url, { authorization: "Bearer token-three" })).toBe(401);
    const one = await connect("modern", undefined, "token-one");
    const two = await connect("modern", undefined, "token-two");
    const started = await exec(one.client, "exec cat", { stdin: "open", yield_time_ms: 250 });
    const id = Number(/session ID (\d+)/.exec(textOf(started))?.[1]);
    const read = { name: "read_output", arguments: { session_id: id } };
    expect((await one.client.callTool(read)).isError).toBe(false);
    expect(textOf(await two.client.callTool(read))).toMatch(/unknown session/);
    const legacy = await connect("legacy", undefined, "token-one");
    const headers = { authorization: "Bearer token-two", "mcp-session-id": legacy.transport.sessionId ?? "" };
    expect(await send(url, headers)).toBe(404);
  });

  it("does not listen beyond loopback without tokens", async () => {
    await expect(listen({ host: "0.0.0.0" })).rejects.toThrow(/0\.0\.0\.0 can be reached from other machines/);
  });

  it("ends the longest unused MCP session if there are too many", async () => {
    const { url, connect } = await listen();
    const { client, transport } = await connect("legacy");
    await client.ping();
    // The client keeps a stream open, so that its session is in use.
    for (let count = 0; count < 70; count += 1) expect(await send(url, {})).toBe(200);
    await client.ping();
    expect(transport.sessionId).toBeDefined();
  });

  it("rejects the answer to a question that was asked before a restart, and runs nothing", async () => {
    const file = join(temporary(), "ran");
    const first = await listen({ approvalPolicy: "untrusted" });
    const port = Number(new URL(first.url).port);
    const { client } = await first.connect("modern", () => ({ action: "accept", content: { decision: "accept" } }));
    const second = await open({ approvalPolicy: "untrusted" });
    client.setRequestHandler("elicitation/create", async () => {
      await first.listener.close();
      const again = await listenMcp(second.servers, { port });
      onTestFinished(() => again.close());
      return { action: "accept", content: { decision: "accept" } };
    });
    await expect(exec(client, `touch ${file}`)).rejects.toMatchObject({ code: -32602 });
    expect(existsSync(file)).toBe(false);
  });
});
