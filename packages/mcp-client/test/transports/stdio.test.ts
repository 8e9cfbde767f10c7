import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecBackend } from "@codex/exec-backend";
import { createLocalBackend } from "@codex/process-host";
import { Client } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { type StdioServer, StdioTransport } from "../../src/index.js";
import { openRemote, SERVER, untilGone } from "../support.js";

/** A client of a server on a backend, and what its transport reported, in order. */
async function connect(backend: ExecBackend, server: Partial<StdioServer> = {}) {
  const transport = new StdioTransport({ ...SERVER, ...server }, { backend });
  onTestFinished(() => transport.close());
  const client = new Client({ name: "tests", version: "1.0.0" });
  const events: string[] = [];
  client.onerror = ({ message }) => events.push(message);
  const closed = new Promise<void>((resolve) => {
    client.onclose = () => {
      events.push("closed");
      resolve();
    };
  });
  const connected = client.connect(transport);
  return { client, transport, events, closed, connected };
}

function openLocal(): ExecBackend {
  const backend = createLocalBackend();
  onTestFinished(() => backend.close());
  return backend;
}

const BACKENDS: [string, () => Promise<ExecBackend> | ExecBackend][] = [
  ["this host", openLocal],
  ["an exec-server", async () => (await openRemote()).environment.backend],
];

describe.each(BACKENDS)("a stdio server on %s", (_, open) => {
  it("is initialized, listed and called", async () => {
    const { client, connected } = await connect(await open());
    await connected;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    const answer = await client.callTool({ name: "echo", arguments: { words: "hello\nagain" } });
    expect(answer.content).toEqual([{ type: "text", text: "hello\nagain" }]);
  });

  it("answers with 3 MB, and reports progress in order", async () => {
    const { client, connected } = await connect(await open());
    await connected;
    const big = await client.callTool({ name: "big", arguments: { bytes: 3_000_000 } });
    expect(big.content).toEqual([{ type: "text", text: "x".repeat(3_000_000) }]);
    const seen: number[] = [];
    await client.callTool(
      { name: "steps", arguments: { count: 5 } },
      { onprogress: ({ progress }) => void seen.push(progress) },
    );
    expect(seen).toEqual([1, 2, 3, 4, 5]);
  });

  it("takes a message of 3 MB", async () => {
    const { client, connected } = await connect(await open());
    await connected;
    const words = "y".repeat(3_000_000);
    const answer = await client.callTool({ name: "echo", arguments: { words } });
    expect(answer.content).toEqual([{ type: "text", text: words }]);
  });

  it("gets core and configured variables, and no secrets of this process", async () => {
    process.env.MCP_TEST_SECRET_TOKEN = "hunter2";
    process.env.MCP_TEST_PLAIN = "plain";
    onTestFinished(() => {
      delete process.env.MCP_TEST_SECRET_TOKEN;
      delete process.env.MCP_TEST_PLAIN;
    });
    const { client, connected } = await connect(await open(), { env: { GIVEN_TOKEN: "given" } });
    await connected;
    const { content } = await client.callTool({ name: "env", arguments: {} });
    expect(content).toMatchObject([{ type: "text", text: expect.not.stringContaining("hunter2") }]);
    const env = JSON.parse(content[0]?.type === "text" ? content[0].text : "");
    expect(env).toMatchObject({ GIVEN_TOKEN: "given", PATH: expect.any(String) });
    expect(env).not.toHaveProperty("MCP_TEST_PLAIN");
  });

  it("is ended with its children when it is closed", async () => {
    const { client, connected, events } = await connect(await open());
    await connected;
    const { content } = await client.callTool({ name: "pid", arguments: {} });
    const pids: number[] = JSON.parse(content[0]?.type === "text" ? content[0].text : "");
    await client.close();
    await Promise.all(pids.map(untilGone));
    expect(events).toEqual(["closed"]);
  });

  it("is not read any further once it is closed, though it writes without end", async () => {
    const server = { command: "sh", args: ["-c", "cat >/dev/null; exec yes"] };
    const transport = new StdioTransport({ ...SERVER, ...server }, { backend: await open() });
    let lines = 0;
    transport.onerror = () => {
      lines += 1;
    };
    await transport.start();
    await transport.close();
    expect(lines).toBe(0);
  });

  it("reports its exit code and last stderr before onclose", async () => {
    const { client, connected, events, closed, transport } = await connect(await open());
    await connected;
    await expect(client.callTool({ name: "exit", arguments: { code: 3 } })).rejects.toThrow();
    await closed;
    expect(events).toEqual(["the MCP server ended: it exited with code 3; on stderr: leaving [31mnow", "closed"]);
    expect(transport.outcome).toEqual({ kind: "exited", code: 3 });
  });

  it("reports why it cannot start before onclose", async () => {
    const { events, closed, connected } = await connect(await open(), { command: "/no/such/mcp-server" });
    await expect(connected).rejects.toThrow();
    await closed;
    expect(events).toEqual([expect.stringContaining("/no/such/mcp-server"), "closed"]);
  });
});

it("completes a call although the connection to the host was lost meanwhile", async () => {
  const { environment, relay } = await openRemote();
  const { client, connected, events } = await connect(environment.backend);
  await connected;
  const directory = await mkdtemp(join(tmpdir(), "mcp "));
  onTestFinished(() => rm(directory, { recursive: true }));
  const file = join(directory, "there");
  const called = client.callTool({ name: "wait_for", arguments: { file } });
  await client.callTool({ name: "echo", arguments: { words: "before" } });
  relay.cut();
  await writeFile(file, "");
  expect((await called).content).toEqual([{ type: "text", text: "it is there" }]);
  expect((await client.callTool({ name: "echo", arguments: { words: "after" } })).content).toMatchObject([
    { text: "after" },
  ]);
  expect([relay.cuts, events]).toEqual([1, []]);
});

it("rejects lines that are not messages, and ends a server whose message is too long", async () => {
  const backend = openLocal();
  const script = "echo oops; head -c 11000000 /dev/zero | tr '\\0' x; sleep 1000";
  const transport = new StdioTransport({ command: "/bin/sh", args: ["-c", script], cwd: "/" }, { backend });
  const events: string[] = [];
  transport.onerror = ({ message }) => events.push(message);
  await new Promise<void>((resolve, reject) => {
    transport.onclose = resolve;
    transport.start().catch(reject);
  });
  expect(events).toEqual([
    "the MCP server wrote a line to stdout that is not a JSON message",
    "a message has more than 10485760 bytes, the limit for one message",
  ]);
  expect(transport.outcome).toMatchObject({ kind: "signaled" });
});

it("takes a first message that follows text in its line", async () => {
  const backend = openLocal();
  const script = `printf '\\033]0;box\\007$ {"jsonrpc":"2.0","method":"first"}\\n$ {"jsonrpc":"2.0","method":"second"}\\n'; cat`;
  const transport = new StdioTransport({ command: "/bin/sh", args: ["-c", script], cwd: "/" }, { backend });
  const events: string[] = [];
  transport.onmessage = (message) => events.push("method" in message ? message.method : "");
  transport.onerror = ({ message }) => events.push(message);
  await transport.start();
  await expect
    .poll(() => events)
    .toEqual(["first", "the MCP server wrote a line to stdout that is not a JSON message"]);
  await transport.close();
});

it("keeps the end of stderr, and rejects sending a message that is too long", async () => {
  const backend = openLocal();
  const seen: number[] = [];
  const transport = new StdioTransport(
    { command: "/bin/sh", args: ["-c", "head -c 100000 /dev/zero | tr '\\0' e >&2; echo end >&2; cat"], cwd: "/" },
    { backend, onStderr: ({ length }) => void seen.push(length) },
  );
  await transport.start();
  const params = { text: "x".repeat(10 * 1024 * 1024) };
  await expect(transport.send({ jsonrpc: "2.0", method: "m", params })).rejects.toThrow("over the limit of 10485760");
  await transport.close();
  expect(seen.reduce((sum, length) => sum + length, 0)).toBe(100_004);
  expect(transport.stderr).toHaveLength(8192);
  expect(transport.stderr).toMatch(/eend\n$/);
});
