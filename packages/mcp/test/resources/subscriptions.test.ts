import { createServer } from "node:http";
import { serveMcpStdio } from "@codex/mcp";
import { createMcpHttpServer } from "@codex/mcp/http";
import { type Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { createClient, ERAS, open, textOf } from "../support.js";

type Servers = Awaited<ReturnType<typeof open>>["servers"];

const CONNECT = {
  stdio: async (servers: Servers, client: Client) => {
    const [ours, its] = InMemoryTransport.createLinkedPair();
    serveMcpStdio(servers, { transport: its });
    await client.connect(ours);
  },
  http: async (servers: Servers, client: Client) => {
    const http = createMcpHttpServer(servers);
    const server = createServer((request, response) => void http.handle(request, response));
    onTestFinished(async () => {
      await http.close();
      server.closeAllConnections();
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number }; // it listens on a port
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
  },
};

const CASES = ERAS.flatMap((era) => (["stdio", "http"] as const).map((transport) => [era, transport] as const));

describe.each(CASES)("resources of a session, %s over %s", (era, transport) => {
  it("are listed, read, and reported when they change, until the client no longer wants that", async () => {
    const { servers } = await open();
    const client = createClient(era);
    await CONNECT[transport](servers, client);
    onTestFinished(() => client.close());
    const call = (name: string, args: object) => client.callTool({ name, arguments: { ...args } });
    const started = await call("exec_command", { cmd: "exec cat", stdin: "open", yield_time_ms: 250 });
    const id = Number(/session ID (\d+)/.exec(textOf(started))?.[1]);
    const uri = `codex://sessions/${id}/output`;
    const { resources } = await client.listResources();
    expect(resources.map((resource) => resource.uri)).toEqual([uri, `codex://sessions/${id}/recording.cast`]);

    const updates: string[] = [];
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => void updates.push(params.uri));
    const subscription = era === "modern" ? await client.listen({ resourceSubscriptions: [uri] }) : undefined;
    if (era === "legacy") await client.subscribeResource({ uri });
    // Many writes within a second are few notifications.
    for (let count = 0; count < 6; count += 1) await call("write_stdin", { session_id: id, chars: `${count}\n` });
    await expect.poll(() => updates.length).toBeGreaterThan(0);
    expect(updates.length).toBeLessThan(10);
    expect(new Set(updates)).toEqual(new Set([uri]));
    const { contents } = await client.readResource({ uri });
    expect(contents[0]).toMatchObject({ uri, text: Array.from({ length: 6 }, (_, count) => `${count}\n`).join("") });
    const cast = await client.readResource({ uri: `codex://sessions/${id}/recording.cast` });
    expect(Reflect.get(cast.contents[0] ?? {}, "text")).toMatch(/^\{"version":3,.*\n(\[.*\]\n)+$/);

    if (era === "modern") await subscription?.close();
    else await client.unsubscribeResource({ uri });
    await expect(client.readResource({ uri: "codex://sessions/1/output" })).rejects.toThrow(/unknown session 1/);
  });
});

it("do not report sessions of another client", async () => {
  const { servers, connect } = await open();
  const client = await connect("modern", undefined, "one");
  const args = { cmd: "exec cat", stdin: "open", yield_time_ms: 250 };
  const started = await client.callTool({ name: "exec_command", arguments: args });
  const id = Number(/session ID (\d+)/.exec(textOf(started))?.[1]);
  const uri = `codex://sessions/${id}/output`;
  const seen: string[] = [];
  servers.watch("two", [uri], () => seen.push("two"));
  servers.watch("one", [uri], () => seen.push("one"));
  await client.callTool({ name: "write_stdin", arguments: { session_id: id, chars: "x\n" } });
  await expect.poll(() => seen).toEqual(["one"]);
});
