import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { createNodeFetch } from "@codex/model/node";
import { describe, expect, it, onTestFinished } from "vitest";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/** An endpoint, and what it was asked. */
async function listen(answer: Answer) {
  const sockets = new Set<Socket>();
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    bodies.push(body);
    answer(request, response);
  });
  server.on("connection", (socket) => sockets.add(socket));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, sockets, bodies };
}

const init = (signal = new AbortController().signal) => ({
  method: "POST" as const,
  headers: { "content-type": "application/json" },
  body: new TextEncoder().encode('{"a":"ö"}'),
  signal,
  redirect: "manual" as const,
});

/** A promise, and what resolves it. */
function defer() {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

async function textOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("requests by node:http", () => {
  it("send headers and body, and resolve with status, headers and body", async () => {
    const { url, bodies } = await listen((request, response) => {
      response.writeHead(429, { "retry-after": "3" }).end(`${request.method} ${request.url}`);
    });
    const { ok, status, headers, body } = await createNodeFetch()(url, init());
    expect([ok, status, headers.get("Retry-After"), headers.get("x-none")]).toEqual([false, 429, "3", null]);
    expect(await textOf(body)).toBe("POST /v1");
    expect(bodies).toEqual(['{"a":"ö"}']);
  });

  it("send a body in pieces without joining them, with their length", async () => {
    const { url, bodies } = await listen((request, response) => {
      response.end(`${request.headers["content-length"]} ${request.headers["transfer-encoding"]}`);
    });
    const pieces = ["one, ", "", "two"].map((text) => new TextEncoder().encode(text));
    const asked = {
      ...init(),
      pieces,
      get body(): Uint8Array<ArrayBuffer> {
        throw new Error("the pieces were joined");
      },
    };
    const { body } = await createNodeFetch()(url, asked);
    expect(await textOf(body)).toBe("8 undefined");
    expect(bodies).toEqual(["one, two"]);
  });

  it("use a connection again, also where the reader left behind the last event", async () => {
    let end = () => {};
    const { url, sockets } = await listen((_request, response) => {
      response.write("data: 1\n\n");
      end = () => response.end("data: [DONE]\n\n");
    });
    const connections = new Agent({ keepAlive: true });
    onTestFinished(() => connections.destroy());
    const fetch = createNodeFetch(connections);
    for (let round = 0; round < 3; round += 1) {
      const { body } = await fetch(url, init());
      for await (const _chunk of body ?? []) break;
      const isFree = once(connections, "free");
      end();
      await isFree;
    }
    expect(sockets.size).toBe(1);
  });

  it("end what goes on for long after its reader left", async () => {
    const { url } = await listen((_request, response) => {
      response.write("data: 1\n\n");
      const flood = () => void (response.destroyed || response.write("x".repeat(16_384), () => setImmediate(flood)));
      flood();
      response.on("close", () => closed.resolve());
    });
    const closed = defer();
    const { body } = await createNodeFetch()(url, init());
    for await (const _chunk of body ?? []) break;
    await closed.promise;
  });

  it("are sent once more where the kept connection was closed meanwhile", async () => {
    let resets = 0;
    const { url, bodies, sockets } = await listen((request, response) => {
      if (bodies.length === 2) {
        resets += 1;
        request.socket.resetAndDestroy();
      } else response.end("done");
    });
    const connections = new Agent({ keepAlive: true });
    onTestFinished(() => connections.destroy());
    const fetch = createNodeFetch(connections);
    const isFree = once(connections, "free");
    expect(await textOf((await fetch(url, init())).body)).toBe("done");
    await isFree;
    expect(await textOf((await fetch(url, init())).body)).toBe("done");
    expect([resets, bodies.length, sockets.size]).toEqual([1, 3, 2]);
  });

  it("fail as the connection does, and are not repeated then", async () => {
    const { url, bodies } = await listen((request) => request.socket.resetAndDestroy());
    await expect(createNodeFetch()(url, init())).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(bodies).toHaveLength(1);
  });

  it("reject when a stream breaks in the middle", async () => {
    const { url } = await listen((request, response) => {
      response.write("data: 1\n\n", () => request.socket.resetAndDestroy());
    });
    const { body } = await createNodeFetch()(url, init());
    await expect(textOf(body)).rejects.toThrow();
  });

  it.each(["before the headers", "in the body"])("end when the signal aborts: %s", async (when) => {
    const closed = defer();
    const asked = defer();
    const { url } = await listen((_request, response) => {
      response.on("close", () => closed.resolve());
      if (when === "in the body") response.write("data: 1\n\n");
      asked.resolve();
    });
    const stop = new AbortController();
    const answer = createNodeFetch()(url, init(stop.signal)).then(({ body }) => textOf(body));
    answer.catch(() => {});
    await asked.promise;
    stop.abort(new Error("enough"));
    await expect(answer).rejects.toThrow();
    await closed.promise;
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("decode what was compressed unasked: %s", async (encoding, compress) => {
    const { url } = await listen((request, response) => {
      expect(request.headers["accept-encoding"]).toBeUndefined();
      response.writeHead(200, { "content-encoding": encoding }).end(compress("data: 1\n\n"));
    });
    expect(await textOf((await createNodeFetch()(url, init())).body)).toBe("data: 1\n\n");
  });

  it("follow no redirection", async () => {
    const { url, bodies } = await listen((_request, response) => response.writeHead(307, { location: "/" }).end());
    const { status, headers } = await createNodeFetch()(url, init());
    expect([status, headers.get("location"), bodies.length]).toEqual([307, "/", 1]);
  });
});
