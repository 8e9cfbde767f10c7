import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { type RawData, WebSocket, WebSocketServer } from "ws";
import type { FaultKind, FrameFaults } from "./frame-faults.js";

/** What a proxy in front of nodes needs. */
export interface FrameProxyOptions {
  /** Ports of the nodes that are up; the first is tried first. */
  listPorts(): number[];
  faults: FrameFaults;
  /** A fault of nodes. */
  onNodeFault(kind: "kill" | "kill-all"): void;
}

/**
 * One address for all nodes, with faults: requests and executors go to any node that is up, harnesses to the node that `connect` has
 * named, through `/node/PORT`.
 */
export async function startFrameProxy(options: FrameProxyOptions) {
  const server = createServer((request, response) => void forward(request, response));
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const open = new Set<WebSocket>();
  let turn = 0;
  const choosePort = () => {
    const ports = options.listPorts();
    turn += 1;
    return ports[turn % Math.max(ports.length, 1)];
  };
  const forward = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const port = choosePort();
    if (port === undefined) return void response.socket?.destroy();
    const upstream = sendRequest({
      port,
      host: "127.0.0.1",
      path: request.url,
      method: "POST",
      headers: request.headers,
    });
    upstream.on("error", () => response.socket?.destroy());
    upstream.on("response", async (answer) => {
      const parts: Buffer[] = [];
      try {
        for await (const part of answer) parts.push(part as Buffer);
      } catch {
        return void response.socket?.destroy();
      }
      const text = Buffer.concat(parts)
        .toString()
        .replace(
          /"url":"ws:\/\/127\.0\.0\.1:(\d+)(\/relay\/[^"]*\/harness)/,
          `"url":"ws://${request.headers.host}/node/$1$2`,
        );
      const { "content-length": _length, ...headers } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, headers).end(text);
    });
    upstream.end(Buffer.concat(chunks));
  };
  server.on("upgrade", (request, wire, head) => {
    wire.on("error", () => {});
    const [, named, path = ""] = /^(?:\/node\/(\d+))?(\/.*)$/.exec(request.url ?? "") ?? [];
    const port = named === undefined ? choosePort() : Number(named);
    if (port === undefined) return void wire.destroy();
    const upstream = new WebSocket(`ws://127.0.0.1:${port}${path}`, { perMessageDeflate: false });
    upstream.on("error", () => wire.destroy());
    upstream.once("unexpected-response", (_request, { statusCode }) => {
      wire.end(`HTTP/1.1 ${statusCode} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
      upstream.terminate();
    });
    upstream.once("open", () => {
      upstream.pause();
      sockets.handleUpgrade(request, wire, head, (client) => {
        for (const socket of [client, upstream]) {
          open.add(socket);
          socket.on("error", () => {}).once("close", () => open.delete(socket));
        }
        join(client, upstream, options);
        upstream.resume();
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of open) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** Passes messages in both directions until one end has ended. */
function join(client: WebSocket, upstream: WebSocket, { faults, onNodeFault }: FrameProxyOptions): void {
  let isSilent = false;
  const cut = () => {
    client.terminate();
    upstream.terminate();
  };
  const pass = (from: WebSocket, to: WebSocket) => {
    const late: { frame: Buffer; after: number }[] = [];
    const send = (frame: Buffer) => {
      if (to.readyState === WebSocket.OPEN) to.send(frame);
    };
    const apply = (kind: FaultKind | undefined, frame: Buffer) => {
      if (kind === "drop") return;
      if (kind === "delay") return void late.push({ frame, after: faults.delay() });
      if (kind === "kill" || kind === "kill-all") onNodeFault(kind);
      if (kind === "silence") {
        // A half-open connection: nothing is read any more, not even pings.
        isSilent = true;
        client.pause();
        upstream.pause();
      }
      if (isSilent) return;
      send(frame);
      if (kind === "double") send(frame);
      if (kind === "cut") cut();
    };
    from.on("message", (data: RawData) => {
      const frame = data as Buffer;
      if (isSilent) return;
      apply(faults.next(frame), frame);
      for (const each of late) each.after -= 1;
      while (late[0] !== undefined && late[0].after < 0) send(late.shift()!.frame);
    });
    from.once("close", () => (from.readyState === WebSocket.CLOSED ? cut() : undefined));
  };
  pass(client, upstream);
  pass(upstream, client);
}
