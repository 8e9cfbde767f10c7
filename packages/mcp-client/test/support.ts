import { randomUUID } from "node:crypto";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createRemoteEnvironment, createWebSocketLink, type Environment } from "@codex/environments";
import type { ExecutorTool } from "@codex/executor";
import {
  type EventStore,
  type JSONRPCMessage,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { onTestFinished } from "vitest";
import { listenOwnServer } from "../../exec-server/test/backend/own-server.js";
import { createRelay, type Relay } from "../../exec-server/test/relay.js";
// A program in JavaScript, which the tests also start as such.
// @ts-expect-error it has no types
import { createServer } from "./programs/tools.mjs";

/** The MCP server of the tests as a program. */
export const SERVER = {
  command: process.execPath,
  args: [fileURLToPath(new URL("./programs/stdio-server.mjs", import.meta.url))],
  cwd: "/",
};

/** An environment of an exec-server behind a relay that can drop connections. Closed at the end of the test. */
export async function openRemote(id = "far"): Promise<{ environment: Environment; relay: Relay }> {
  const { url, close } = await listenOwnServer();
  onTestFinished(close);
  const relay = await createRelay(url);
  onTestFinished(() => relay.close());
  const link = createWebSocketLink({ url: relay.url, connectTimeoutMs: 10_000 });
  const environment = createRemoteEnvironment({ id, kind: "websocket", link });
  onTestFinished(() => environment.close());
  return { environment, relay };
}

/** A request that a test's HTTP server received. */
export interface Asked {
  method: string;
  url: string;
  headers: string[];
}

/** An HTTP server; closed at the end of the test. */
export async function listenHttp(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createHttpServer((request, response) => {
    asked.push({ method: request.method ?? "", url: request.url ?? "", headers: request.rawHeaders });
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked };
}

/** Keeps the messages of each stream, for clients that come back for those that they missed. */
function createEventStore(): EventStore {
  const events: { streamId: string; message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(streamId, message) {
      events.push({ streamId, message });
      return String(events.length - 1);
    },
    async replayEventsAfter(lastEventId, { send }) {
      const last = Number(lastEventId);
      const { streamId } = events[last]!;
      for (const [at, event] of events.entries()) {
        // A priming event has no message.
        const isMissed = at > last && event.streamId === streamId && Object.keys(event.message).length > 0;
        if (isMissed) await send(String(at), event.message);
      }
      return streamId;
    },
  };
}

/** The MCP server of the tests on Streamable HTTP, with sessions and streams that can be resumed. */
export async function listenMcp(): Promise<{ url: string; asked: Asked[] }> {
  const { url, asked } = await listenHttp(createMcpHandler());
  return { url: `${url}/mcp`, asked };
}

/** Answers the requests to that server. */
export function createMcpHandler(): (request: IncomingMessage, response: ServerResponse) => void {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const open = async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      eventStore: createEventStore(),
      retryInterval: 10,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createServer().connect(transport);
    return transport;
  };
  return (request, response) => {
    void (async () => {
      const id = request.headers["mcp-session-id"];
      const transport = (typeof id === "string" ? sessions.get(id) : undefined) ?? (await open());
      await send(await transport.handleRequest(toRequest(request)), response);
    })();
  };
}

function toRequest(request: IncomingMessage): Request {
  const hasBody = request.method !== "GET" && request.method !== "HEAD";
  return new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method ?? "GET",
    headers: new Headers(
      Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)]),
    ),
    // The type of Node's web streams is not that of the global one.
    ...(hasBody ? ({ body: Readable.toWeb(request), duplex: "half" } as unknown as RequestInit) : {}),
  });
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  response.flushHeaders();
  if (answer.body !== null) for await (const piece of answer.body) response.write(piece);
  response.end();
}

/** Resolves when no process has this id any more. */
export async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0);
    } catch {
      return;
    }
    // There is no event for the exit of a process that is not a child.
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Calls a tool as an executor does. */
export async function call(tools: readonly ExecutorTool[], name: string, given: object, signal?: AbortSignal) {
  const tool = tools.find(({ spec }) => spec.name === name);
  if (tool === undefined) throw new Error(`no tool ${name} among ${tools.map(({ spec }) => spec.name).join(", ")}`);
  const output: string[] = [];
  const outcome = await tool.call(given, {
    requestId: "1",
    signal: signal ?? new AbortController().signal,
    emitOutput: (bytes) => {
      output.push(Buffer.from(bytes).toString());
      return Promise.resolve();
    },
  });
  return { outcome, output };
}
