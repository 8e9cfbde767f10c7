import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createMemoryChannelPair } from "@codex/channel";
import { createFileSystem, type FileSystem } from "@codex/host-files";
import { describe, expect, it, onTestFinished } from "vitest";
import { ByteBudget } from "../../src/connection/byte-budget.js";
import { MAX_RESPONSE_BYTES } from "../../src/limits.js";
import { useServer } from "../support.js";

describe("a budget of bytes", () => {
  it("is taken in the order of the calls, and never more than there is but by one alone", async () => {
    const budget = new ByteBudget(10);
    const first = await budget.take(6);
    const order: string[] = [];
    const take = async (bytes: number, name: string) => {
      const release = await budget.take(bytes);
      order.push(name);
      return release;
    };
    const second = take(6, "second");
    const third = take(1, "third");
    expect(await budget.take(1, { waitMs: 1 })).toBeUndefined();
    expect(order).toEqual([]);
    first?.();
    first?.(); // a second time changes nothing
    (await second)?.();
    (await third)?.();
    expect(order).toEqual(["second", "third"]);
    const large = await budget.take(100);
    expect(await budget.take(1, { waitMs: 1 })).toBeUndefined();
    const giveUp = new AbortController();
    const given = budget.take(1, { signal: giveUp.signal });
    giveUp.abort();
    expect(await given).toBeUndefined();
    expect(await budget.take(1, { signal: giveUp.signal })).toBeUndefined();
    large?.();
    expect(await budget.take(10, { waitMs: 1 })).toBeDefined();
  });
});

describe("answers with large files", () => {
  /** How many were read at once, and in all. */
  const reads = { now: 0, most: 0, all: 0 };
  const real = createFileSystem();
  const fileSystem: FileSystem = {
    createConnectionFileSystem: (options) => ({
      ...real.createConnectionFileSystem(options),
      async readFile(_params, reserve) {
        await reserve?.(MAX_RESPONSE_BYTES);
        reads.now += 1;
        reads.all += 1;
        reads.most = Math.max(reads.most, reads.now);
        await nextTurn();
        reads.now -= 1;
        return Buffer.alloc(2 * 1024 * 1024);
      },
    }),
  };
  const server = useServer({ fileSystem });

  it("are made one by one, each when the client has read the one before", async () => {
    const [near, far] = createMemoryChannelPair();
    const served = (await server.get()).serve(far, { transport: { kind: "websocket", peer: "192.0.2.1:5" } });
    void near.send({ id: 1, method: "initialize", params: { clientName: "x" } });
    void near.send({ method: "initialized" });
    await near.receive();
    for (let id = 2; id < 8; id += 1) void near.send({ id, method: "fs/readFile", params: { path: "file:///x" } });
    for (let answered = 0; answered < 6; answered += 1) {
      while (reads.all <= answered) await nextTurn();
      for (let turn = 0; turn < 20; turn += 1) await nextTurn();
      expect(reads.all).toBe(answered + 1);
      await near.receive();
    }
    expect(reads.most).toBe(1);
    await near.close();
    await served;
  });
});

describe("answers with large bodies of HTTP responses", () => {
  const server = useServer();
  const BODY = Buffer.alloc(8 * 1024 * 1024, "x");
  const GIVEN_UP = "/given-up";
  const FIT = MAX_RESPONSE_BYTES / BODY.length;

  /** A web server that holds back the last byte of every body; those of which it has sent the rest, but for what will be given up. */
  async function serve(): Promise<{ url: string; waiting: ServerResponse[] }> {
    const waiting: ServerResponse[] = [];
    const http = createServer((request, response) => {
      response.setHeader("content-length", BODY.length);
      response.write(BODY.subarray(1), () => {
        // The kernel may take a whole body that nobody reads.
        if (request.url !== GIVEN_UP && response.socket?.destroyed === false) waiting.push(response);
      });
    });
    http.listen(0, "127.0.0.1");
    await once(http, "listening");
    onTestFinished(() => {
      http.close();
      http.closeAllConnections();
    });
    return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`, waiting };
  }

  it("are all read, more than there is memory for at once, and one can be given up", async () => {
    const { url, waiting } = await serve();
    const client = await server.ready();
    const get = (requestId: string, path = "/") => ({ requestId, method: "GET", url: url + path });
    const answers = Array.from({ length: FIT }, (_, index) =>
      client.ask<{ bodyBase64: string }>("http/request", get(`r${index}`)),
    );
    await expect.poll(() => waiting.length).toBe(FIT);
    const refused = client.refusal("http/request", get("given up", GIVEN_UP));
    answers.push(client.ask("http/request", get("last")));
    expect(await client.ask("http/cancel", { requestId: "given up" })).toEqual({ cancelled: true });
    expect(await refused).toContain("the request was cancelled");
    for (let ended = 0; ended < answers.length; ended += 1) {
      await expect.poll(() => waiting.length).toBeGreaterThan(ended);
      waiting[ended]?.end("x");
    }
    for (const answer of answers) {
      expect((await answer).bodyBase64.length).toBe(4 * Math.ceil(BODY.length / 3));
    }
  });
});
