import { PassThrough } from "node:stream";
import { createMemoryChannelPair, createStdioChannel, Peer } from "@codex/channel";
import { expect, test } from "vitest";
import { nextValue, turn } from "../support.js";
import { deferred, handlers, open, scripted } from "./support.js";

test("reads no more than the limit of requests in progress", async () => {
  const gate = deferred<string>();
  let started = 0;
  const [near, far] = createMemoryChannelPair({ maxWaitingMessages: 10_000 });
  const requests = handlers({
    wait: () => {
      started++;
      return gate.promise;
    },
  });
  const peer = new Peer(near, { requests, limits: { maxHandledRequests: 8 } });
  open.push(peer, far);
  for (let id = 0; id < 100; id++) await far.send({ id, method: "wait" });
  while (started < 8) await turn();
  await turn();
  expect(started).toBe(8);
  gate.resolve("go");
  for (let n = 0; n < 100; n++) expect(await nextValue(far)).toMatchObject({ result: "go" });
  expect(started).toBe(100);
});

test.each(["far", "near"])("notices the %s end also while its work is at the limit and hangs", async (end) => {
  const { peer, far } = scripted({
    requests: handlers({ hang: () => new Promise(() => {}) }),
    limits: { maxHandledRequests: 1, drainMs: 1 },
  });
  const waiting = peer.request("a").catch((error: unknown) => error);
  for (let id = 1; id <= 3; id++) await far.send({ id, method: "hang" });
  await turn();
  await (end === "far" ? far : peer).close();
  expect(await waiting).toMatchObject({ code: "closed" });
  expect(await peer.ended).toEqual({ kind: end === "far" ? "peer_closed" : "closed" });
  await peer.closed;
});

test("bounds requests in progress by their bytes as well, and always admits one", async () => {
  const gate = deferred<string>();
  let started = 0;
  const { far } = scripted({
    requests: handlers({
      wait: () => {
        started++;
        return gate.promise;
      },
    }),
    limits: { maxHandledBytes: 10_000 },
  });
  await far.send({ id: 1, method: "wait", params: "x".repeat(6_000) });
  await far.send({ id: 2, method: "wait", params: "x".repeat(60_000) });
  await far.send({ id: 3, method: "wait" });
  await turn();
  expect(started).toBe(2);
  gate.resolve("go");
  for (const id of [1, 2, 3]) expect(await nextValue(far)).toEqual({ id, result: "go" });
});

test("a request is in progress until the peer has read its response", async () => {
  let started = 0;
  const [near, far] = createMemoryChannelPair({ highWaterBytes: 100_000 });
  const requests = handlers({
    big: () => {
      started++;
      return "y".repeat(60_000);
    },
  });
  open.push(new Peer(near, { requests, limits: { maxHandledRequests: 4 } }), far);
  for (let id = 0; id < 50; id++) await far.send({ id, method: "big" });
  await turn();
  expect(started).toBeLessThan(8);
  for (let n = 0; n < 50; n++) expect(await nextValue(far)).toMatchObject({ result: expect.any(String) });
});

test("bounds the requests that wait for a response", async () => {
  const { peer, far } = scripted({ limits: { maxPendingRequests: 3 } });
  const waiting = [1, 2, 3].map(() => peer.request("a"));
  await expect(peer.request("a")).rejects.toMatchObject({
    code: "too_many_requests",
    message: expect.stringContaining("3 requests"),
  });
  await far.send({ id: 1, result: "first" });
  expect(await waiting[0]).toBe("first");
  waiting.push(peer.request("a"));
  for (const id of [2, 3, 4]) await far.send({ id, result: id });
  expect(await Promise.all(waiting)).toEqual(["first", 2, 3, 4]);
});

test("a request that cannot be sent rejects alone", async () => {
  const { peer, far } = scripted();
  await expect(peer.request("a", { n: 1n })).rejects.toMatchObject({ code: "unserializable" });
  const next = peer.request("b");
  await far.send({ id: 2, result: "ok" });
  expect(await next).toBe("ok");
});

test("responds to requests read before the end of stdio input, then closes", async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  const gate = deferred<string>();
  const peer = new Peer(createStdioChannel({ input, output }), {
    requests: handlers({ now: () => "now", later: () => gate.promise }),
  });
  const reading = output.setEncoding("utf8").toArray();
  input.end('{"id":1,"method":"later"}\n{"id":2,"method":"now"}');
  expect(await peer.ended).toEqual({ kind: "peer_closed" });
  gate.resolve("later");
  expect(await peer.closed).toEqual({ kind: "peer_closed" });
  expect((await reading).join("")).toBe('{"id":2,"result":"now"}\n{"id":1,"result":"later"}\n');
});

test("requests in progress have a bounded time after the end", async () => {
  const seen = deferred<AbortSignal>();
  const { peer, far } = scripted({
    requests: handlers({
      hang: (_params, context) => {
        seen.resolve(context.signal);
        return new Promise(() => {});
      },
    }),
    limits: { drainMs: 1 },
  });
  await far.send({ id: 1, method: "hang" });
  const signal = await seen.promise;
  await far.close();
  expect(await peer.closed).toEqual({ kind: "peer_closed" });
  expect(signal.aborted).toBe(true);
});
