import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";

/** A scripted exec-server that evicts output during an outage, as Codex 0.169.0 does. */
export interface EvictingServer {
  url: string;
  close(): Promise<void>;
}

export interface EvictingServerOptions {
  /** Output before the connection is lost, of chunk 1. */
  before: string;
  /** Chunks that are evicted meanwhile. */
  evictedChunks: number;
  /** Bytes in them, which are reported as servers of this project do. Absent: as in Codex, only the numbers of the chunks tell. */
  evictedBytes?: number;
  /** Output that is read after the resume. Empty: the last of it was evicted. */
  after: string;
  /** Exit code of every program. */
  exitCode: number;
}

/** Each program that is started writes `before`, loses its connection, and has ended when the session is resumed. */
export async function createEvictingServer(options: EvictingServerOptions): Promise<EvictingServer> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  server.on("connection", (socket) => serve(socket, options));
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
      await once(server, "close");
    },
  };
}

interface Request {
  id?: number;
  method?: string;
  params?: { processId?: string; afterSeq?: number };
}

function serve(socket: WebSocket, options: EvictingServerOptions): void {
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.on("message", (text: Buffer) => {
    const { id, method, params } = JSON.parse(text.toString()) as Request;
    const respond = (result: object) => send({ id, result });
    const { processId } = params ?? {};
    // A client finds out by it that this is no executor.
    if (method === undefined) send({ id: -1, error: { code: -32600, message: "not JSON-RPC" } });
    else if (method === "initialize") respond({ sessionId: "session", environmentInfo: ENVIRONMENT });
    else if (method === "environment/info") respond(ENVIRONMENT);
    else if (method === "process/start") {
      respond({ processId, sandboxType: "none" });
      send({
        method: "process/output",
        params: { processId, seq: 1, stream: "stdout", chunk: base64(options.before) },
      });
      setImmediate(() => socket.close());
    } else if (method === "process/read") respond(readAfter(params?.afterSeq ?? 0, options));
    else if (method === "process/terminate") respond({ running: false });
    else if (id !== undefined) send({ id, error: { code: -32601, message: `${method} is not here` } });
  });
}

const ENVIRONMENT = { shell: { name: "sh", path: "/bin/sh" }, cwd: "file:///tmp", platformOs: "linux" };

function readAfter(afterSeq: number, { before, evictedChunks, evictedBytes, after, exitCode }: EvictingServerOptions) {
  const all = [
    { seq: 1, text: before },
    { seq: evictedChunks + 2, text: after },
  ];
  const chunks = all.filter(({ seq, text }) => seq > afterSeq && text !== "");
  const first = chunks[0]?.seq ?? 0;
  const isCut = evictedBytes !== undefined && first > afterSeq + 1;
  return {
    chunks: chunks.map(({ seq, text }) => ({ seq, stream: "stdout", chunk: base64(text) })),
    // Numbers of the exit and of the close follow.
    nextSeq: evictedChunks + (after === "" ? 4 : 5),
    exited: true,
    exitCode,
    closed: true,
    failure: null,
    sandboxDenied: false,
    ...(isCut ? { truncatedBefore: first, bytesBefore: Buffer.byteLength(before) + evictedBytes } : {}),
  };
}

const base64 = (text: string): string => Buffer.from(text).toString("base64");
