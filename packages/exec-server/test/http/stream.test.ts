import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { echo, useHttp } from "./support.js";

const servers = useHttp();
const STREAM = { streamResponse: true, requestId: "s" };

it("tells the answer first, then the body as it comes, then its end", async () => {
  let finish: (() => void) | undefined;
  const url = await servers.serve((_, response) => {
    response.write("one");
    finish = () => response.end("two");
  });
  const log: string[] = [];
  const connection = servers.connect({
    onBodyDelta: async ({ bytes }) => {
      log.push(bytes.length > 0 ? bytes.toString() : "end");
      if (log.length === 2) finish?.();
    },
  });
  const answer = await connection.call({ url, ...STREAM });
  log.push("answer");
  expect(answer).toMatchObject({ status: 200, bodyBase64: "" });
  await connection.ended("s");
  expect(log).toEqual(["answer", "one", "two", "end"]);
  expect(connection.deltas.map(({ seq, done, error }) => [seq, done, error])).toEqual([
    [1, false, null],
    [2, false, null],
    [3, true, null],
  ]);
});

it("holds the sender back while nobody takes the body", async () => {
  const total = 64 * 1024 * 1024;
  let response: ServerResponse | undefined;
  let written = 0;
  const piece = Buffer.alloc(1024 * 1024, "x");
  const url = await servers.serve((_, answer) => {
    response = answer;
    const push = () => {
      while (written < total) {
        written += piece.length;
        if (!answer.write(piece)) break;
      }
      if (written < total) answer.once("drain", push);
      else answer.end();
    };
    push();
  });
  let release: (() => void) | undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const connection = servers.connect({ onBodyDelta: () => held });
  await connection.call({ url, ...STREAM });
  // The pipes between fill up; then nothing moves until the reader does.
  for (let before = -1; before !== written || response === undefined; ) {
    before = written;
    for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(connection.deltas).toHaveLength(1);
  expect(written).toBeLessThan(total);
  release?.();
  await connection.ended("s");
  expect(connection.deltas.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(total);
  expect(connection.deltas.map(({ seq }) => seq)).toEqual(connection.deltas.map((_, index) => index + 1));
});

it("an id streams once at a time; buffered requests may use it", async () => {
  let finish: (() => void) | undefined;
  const url = await servers.serve((request, response) => {
    if (request.url === "/echo") return echo(request, response);
    response.write("open");
    finish = () => response.end();
  });
  const connection = servers.connect();
  await connection.call({ url, ...STREAM });
  const active = { code: -32602, message: "http/request streamResponse requestId `s` is already active" };
  expect(await connection.call({ url, ...STREAM })).toEqual(active);
  expect(await connection.call({ url: `${url}/echo`, requestId: "s" })).toMatchObject({ status: 200 });
  finish?.();
  await connection.ended("s");
  await new Promise((resolve) => setImmediate(resolve));
  expect(await connection.call({ url: `${url}/echo`, ...STREAM })).toMatchObject({ status: 200 });
});

it("an id is free again after a failure", async () => {
  const { call } = servers.connect();
  expect(await call({ url: "http://127.0.0.1:1/", ...STREAM })).toHaveProperty("code", -32603);
  expect(await call({ url: await servers.serve(echo), ...STREAM })).toHaveProperty("status", 200);
});

it("ends with an error when the body is cut off or its time is over", async () => {
  const cut = await servers.serveRaw((socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"));
  });
  const open = await servers.serve((_, response) => response.writeHead(200).write("part"));
  const connection = servers.connect();
  await connection.call({ url: cut, ...STREAM, requestId: "cut" });
  await connection.call({ url: open, ...STREAM, requestId: "slow", timeoutMs: 500 });
  await Promise.all([connection.ended("cut"), connection.ended("slow")]);
  const last = (requestId: string) => connection.deltas.findLast((delta) => delta.requestId === requestId);
  const problem = "failed to read http/request response body: ";
  expect(last("cut")).toMatchObject({ done: true, error: expect.stringContaining(problem) });
  expect(last("slow")).toMatchObject({ done: true, error: `${problem}timed out after 500 ms` });
});

it("is cancelled by its signal, before and within the body", async () => {
  const silent = await servers.serve(() => {});
  const open = await servers.serve((_, response) => response.writeHead(200).write("part"));
  const connection = servers.connect();
  const early = new AbortController();
  const waiting = connection.call({ url: silent }, early.signal);
  early.abort();
  expect((await waiting).message).toMatch(/the request was cancelled$/);
  const late = new AbortController();
  await connection.call({ url: open, ...STREAM }, late.signal);
  late.abort();
  await connection.ended("s");
  expect(connection.deltas.at(-1)?.error).toMatch(/the request was cancelled$/);
});

it("is cancelled by its request id, before and within the body", async () => {
  const silent = await servers.serve(() => {});
  const open = await servers.serve((_, response) => response.writeHead(200).write("part"));
  const connection = servers.connect();
  expect(connection.http.cancel("s")).toBe(false);
  const waiting = [1, 2].map(() => connection.call({ url: silent, requestId: "b" }));
  await connection.call({ url: open, ...STREAM });
  expect(connection.http.cancel("b")).toBe(true);
  for (const { code, message } of await Promise.all(waiting)) {
    expect([code, message]).toEqual([-32603, expect.stringMatching(/the request was cancelled$/)]);
  }
  expect(connection.http.cancel("s")).toBe(true);
  await connection.ended("s");
  expect(connection.deltas.at(-1)?.error).toMatch(/the request was cancelled$/);
  expect(connection.http.cancel("b")).toBe(false);
});

it("ends with its connection, and tells nothing more", async () => {
  let closed: Promise<unknown> | undefined;
  const url = await servers.serve((request, response) => {
    closed = once(request.socket, "close");
    response.writeHead(200).write("part");
  });
  const connection = servers.connect();
  await connection.call({ url, ...STREAM });
  connection.http.dispose();
  connection.http.dispose();
  await closed;
  expect(connection.deltas.filter(({ done }) => done)).toEqual([]);
  expect(await connection.call({ url })).toEqual({
    code: -32603,
    message: "http/request failed: the connection is gone",
  });
});

it("ends when a delta cannot be sent", async () => {
  let closed: Promise<unknown> | undefined;
  const url = await servers.serve((request, response) => {
    closed = once(request.socket, "close");
    response.writeHead(200).write("part");
  });
  const connection = servers.connect({ onBodyDelta: () => Promise.reject(new Error("gone")) });
  await connection.call({ url, ...STREAM });
  await closed;
});

it("bounds what is under way at once", async () => {
  const silent = await servers.serve(() => {});
  const connection = servers.connect({ limits: { maxExchanges: 2 } });
  const abort = new AbortController();
  const waiting = [connection.call({ url: silent }, abort.signal), connection.call({ url: silent }, abort.signal)];
  const full = { code: -32600, message: "http/request was refused: 2 requests are in progress, which is the limit" };
  expect(await connection.call({ url: silent })).toEqual(full);
  abort.abort();
  await Promise.all(waiting);
  expect(await connection.call({ url: await servers.serve(echo) })).toHaveProperty("status", 200);
});
