import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { respond } from "./programs/mcp-tools.mjs";

export interface McpHttpServer {
  readonly url: string;
  /** `METHOD` of each request, and `authorization` as it came. */
  readonly requests: readonly { method: string; authorization: string | undefined; session: string | undefined }[];
  close(): void;
}

/**
 * An MCP server on HTTP whose answers are event streams that it never ends: who waits for the end of a body before
 * passing it on gets no answer.
 */
export async function startMcpHttpServer(): Promise<McpHttpServer> {
  const requests: { method: string; authorization: string | undefined; session: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const { method = "", headers } = request;
    requests.push({ method, authorization: headers.authorization, session: headers["mcp-session-id"]?.toString() });
    void text(request).then((body) => {
      if (method === "POST") return answer(response, body);
      if (method === "DELETE") return response.writeHead(204).end();
      return response.writeHead(200, EVENTS).flushHeaders();
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    requests,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function answer(response: ServerResponse, body: string): void {
  const message = respond(JSON.parse(body));
  if (message === undefined) response.writeHead(202).end();
  else response.writeHead(200, EVENTS).write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
}

const EVENTS = { "content-type": "text/event-stream", "mcp-session-id": "session-of-the-test" };
