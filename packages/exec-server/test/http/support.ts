import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { EncodedResponse, RpcError } from "@codex/channel";
import type { BodyDelta } from "@codex/exec-server-protocol";
import { afterEach } from "vitest";
import { type ConnectionHttp, createHttpClient } from "../../src/http/http-client.js";
import type { HttpLimits } from "../../src/http/limits.js";
import { HTTP_REQUESTS } from "../../src/http/methods.js";

export interface Http {
  /** A server that answers as told; its base URL. */
  serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<string>;
  /** A server of raw bytes; its base URL. */
  serveRaw(handle: (socket: Socket) => void): Promise<string>;
  connect(options?: Options): Connection;
}

interface Options {
  env?: Record<string, string>;
  ca?: string;
  limits?: Partial<HttpLimits>;
  onBodyDelta?: (delta: BodyDelta) => Promise<void>;
}

interface Connection {
  http: ConnectionHttp;
  deltas: BodyDelta[];
  /** Resolves when the body of a streamed answer has ended. */
  ended(requestId: string): Promise<void>;
  /** The result as it is on the wire; a refusal is `{code, message}`. */
  call(params: Record<string, unknown>, signal?: AbortSignal): Promise<Answer>;
}

export interface Answer {
  status?: number;
  headers?: { name: string; value: string }[];
  bodyBase64?: string;
  code?: number;
  message?: string;
}

export function useHttp(): Http {
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const connections: ConnectionHttp[] = [];
  const listen = async (server: Server) => {
    servers.push(server);
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(async () => {
    for (const connection of connections.splice(0)) connection.dispose();
    for (const socket of sockets) socket.destroy();
    await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  });
  return {
    serve: (handle) => listen(createHttpServer(handle)),
    serveRaw: (handle) => listen(createTcpServer(handle)),
    connect: ({ onBodyDelta, ...options } = {}) => {
      const connection = createConnection(onBodyDelta, options);
      connections.push(connection.http);
      return connection;
    },
  };
}

function createConnection(onBodyDelta: Options["onBodyDelta"], options: Omit<Options, "onBodyDelta">): Connection {
  const deltas: BodyDelta[] = [];
  let wakers: (() => void)[] = [];
  const http = createHttpClient(options).createConnectionHttp({
    onBodyDelta: async (delta) => {
      deltas.push(delta);
      for (const waker of wakers.splice(0)) waker();
      await onBodyDelta?.(delta);
    },
  });
  const ended = async (requestId: string) => {
    while (!deltas.some((delta) => delta.requestId === requestId && delta.done)) {
      await new Promise<void>((resolve) => {
        wakers = [...wakers, resolve];
      });
    }
  };
  let nextId = 0;
  const call = async (params: Record<string, unknown>, signal?: AbortSignal): Promise<Answer> => {
    nextId += 1;
    try {
      const decode = HTTP_REQUESTS.get("http/request");
      const result = await decode?.({ method: "GET", requestId: `r${nextId}`, ...params })(http, {
        ...(signal === undefined ? {} : { signal }),
      });
      if (!(result instanceof EncodedResponse)) throw new Error("no answer");
      return JSON.parse(Buffer.from(result.encode(1)).toString()).result;
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      return { code: error.code, message: error.message };
    }
  };
  return { http, deltas, ended, call };
}

export const textOf = ({ bodyBase64 = "" }: Answer): string => Buffer.from(bodyBase64, "base64").toString();

/** Sends back what arrived. */
export function echo(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const { method, url, rawHeaders } = request;
    response.end(JSON.stringify({ method, url, rawHeaders, body: Buffer.concat(chunks).toString() }));
  });
}
