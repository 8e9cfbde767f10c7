import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  ChannelError,
  createMemoryChannelPair,
  EncodedResponse,
  ErrorResponse,
  encodeId,
  Peer,
  RpcError,
  type UnexpectedMessage,
} from "@codex/channel";
import { expect, test } from "vitest";
import { drain, nextValue, turn } from "../support.js";
import { deferred, drainAfter, handlers, open, scripted, sendText } from "./support.js";

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

test("writes requests and notifications without a jsonrpc member, ids from 1", async () => {
  const { peer, far } = scripted();
  const first = peer.request("a", { x: 1 });
  const second = peer.request("b");
  await peer.notify("n", null);
  expect(await nextValue(far)).toEqual({ id: 1, method: "a", params: { x: 1 } });
  expect(await nextValue(far)).toEqual({ id: 2, method: "b" });
  expect(await nextValue(far)).toEqual({ method: "n", params: null });
  await far.send({ id: 2, result: "second" });
  await far.send({ jsonrpc: "2.0", id: 1, result: null });
  expect(await second).toBe("second");
  expect(await first).toBeNull();
});

test("an error response rejects with RpcError, unlike local errors", async () => {
  const { peer, far } = scripted();
  const answer = peer.request("a").catch((error: unknown) => error);
  await far.send({ id: 1, error: { code: -32004, message: "not found", data: { path: "p" } } });
  const error = await answer;
  expect(error).toBeInstanceOf(RpcError);
  expect(error).not.toBeInstanceOf(ChannelError);
  expect(error).toMatchObject({ code: -32004, message: "not found", data: { path: "p" } });
});

test("responds with what a handler returns, throws or resolves with, and echoes ids of every kind", async () => {
  const { far } = scripted({
    requests: handlers({
      sync: (params) => ({ params }),
      async: async (params) => ({ params }),
      nothing: () => undefined,
      throws: () => {
        throw new RpcError(-32602, "bad params");
      },
      rejects: async () => {
        throw new Error("disk on fire");
      },
    }),
  });
  const exchange = async (text: string) => {
    await sendText(far, text);
    return nextValue(far);
  };
  expect(await exchange('{"id":"abc","method":"sync","params":[1]}')).toEqual({ id: "abc", result: { params: [1] } });
  expect(await exchange('{"id":-7,"method":"async"}')).toEqual({ id: -7, result: {} });
  expect(await exchange('{"id":"","method":"nothing"}')).toEqual({ id: "", result: null });
  expect(await exchange('{"id":1,"method":"throws"}')).toEqual({
    id: 1,
    error: { code: -32602, message: "bad params" },
  });
  expect(await exchange('{"id":1,"method":"rejects"}')).toEqual({
    id: 1,
    error: { code: -32603, message: "disk on fire" },
  });
  expect(await exchange('{"id":1,"method":"none"}')).toEqual({
    id: 1,
    error: { code: -32601, message: "unknown method `none`" },
  });
  expect(await exchange('{"id":2,"method":"toString"}')).toMatchObject({ error: { code: -32601 } });
});

test("echoes an id of 64 bits digit by digit", async () => {
  const { far } = scripted({
    requests: handlers({ ok: () => ({ a: 1 }), nope: () => Promise.reject(new RpcError(5, "no")) }),
  });
  await sendText(far, '{"id":9007199254740993,"method":"ok"}');
  const result = await far.receive();
  expect(result).toMatchObject({ kind: "value", text: '{"id":9007199254740993,"result":{"a":1}}' });
  await sendText(far, '{"id":-9223372036854775808,"method":"nope"}');
  const error = await far.receive();
  expect(error).toMatchObject({ text: '{"error":{"code":5,"message":"no"},"id":-9223372036854775808}' });
});

test("sends a response that a handler has encoded itself", async () => {
  const encoded = (id: Parameters<typeof encodeId>[0]) => Buffer.from(`{"id":${encodeId(id)},"result":{"big":"x"}}`);
  const { far } = scripted({ requests: handlers({ raw: async () => new EncodedResponse(encoded) }) });
  await far.send({ id: 'q"', method: "raw" });
  expect(await nextValue(far)).toEqual({ id: 'q"', result: { big: "x" } });
});

test("sends an error that a handler returns, and the request is no longer in progress", async () => {
  const { far } = scripted({
    requests: handlers({
      no: () => new ErrorResponse(-32600, "no"),
      later: async () => new ErrorResponse(-5, "later"),
    }),
    limits: { maxHandledRequests: 1 },
  });
  for (const [id, method, error] of [
    [1, "no", { code: -32600, message: "no" }],
    ["q", "later", { code: -5, message: "later" }],
    [3, "no", { code: -32600, message: "no" }],
  ] as const) {
    await far.send({ id, method });
    expect(await nextValue(far)).toEqual({ id, error });
  }
  await sendText(far, '{"id":9007199254740993,"method":"no"}');
  expect(((await far.receive()) as { text?: string }).text).toBe(
    '{"error":{"code":-32600,"message":"no"},"id":9007199254740993}',
  );
});

test("a response that cannot be sent becomes an error response", async () => {
  const [near, far] = createMemoryChannelPair({ maxMessageBytes: 1_000 });
  const broken = new EncodedResponse(() => {
    throw new Error("encoder broke");
  });
  open.push(
    new Peer(near, {
      requests: handlers({ large: () => "x".repeat(2_000), bad: () => ({ n: 1n }), broken: () => broken }),
    }),
    far,
  );
  for (const [id, method, message] of [
    [1, "large", /2\d{3} bytes/],
    [2, "bad", /no JSON form/],
    [3, "broken", /encoder broke/],
  ]) {
    await far.send({ id, method });
    expect(await nextValue(far)).toEqual({
      id,
      error: { code: -32603, message: expect.stringMatching(message as RegExp) },
    });
  }
});

test("an error whose data has no JSON form is sent without it", async () => {
  const { far } = scripted({ requests: handlers({ odd: () => Promise.reject(new RpcError(7, "odd", { data: 1n })) }) });
  await far.send({ id: 1, method: "odd" });
  expect(await nextValue(far)).toEqual({ id: 1, error: { code: 7, message: "odd" } });
  await sendText(far, '{"id":9007199254740993,"method":"odd"}');
  expect(await nextValue(far)).toMatchObject({ error: { code: 7, message: "odd" } });
});

test("does not keep a message in memory until the next one arrives", async () => {
  let collected = false;
  const registry = new FinalizationRegistry(() => {
    collected = true;
  });
  const { far } = scripted({ notifications: new Map([["n", (params) => registry.register(params as object, 0)]]) });
  await far.send({ method: "n", params: { x: 1 } });
  for (let turns = 0; !collected && turns < 200; turns++) {
    await turn();
    collectGarbage();
  }
  expect(collected).toBe(true);
});

test("handlers are called in order and do not wait for each other", async () => {
  const slow = deferred<string>();
  const order: unknown[] = [];
  const { far } = scripted({
    requests: handlers({
      slow: (params) => {
        order.push(params);
        return slow.promise;
      },
      fast: (params) => {
        order.push(params);
        return "fast";
      },
    }),
  });
  await far.send({ id: 1, method: "slow", params: 1 });
  await far.send({ id: 2, method: "fast", params: 2 });
  await far.send({ id: 1, method: "fast", params: 3 });
  expect(await nextValue(far)).toEqual({ id: 2, result: "fast" });
  expect(await nextValue(far)).toEqual({ id: 1, result: "fast" });
  slow.resolve("slow");
  expect(await nextValue(far)).toEqual({ id: 1, result: "slow" });
  expect(order).toEqual([1, 2, 3]);
});

test("pending requests are rejected when the channel ends, and so are later ones", async () => {
  const { peer, far } = scripted();
  const waiting = [peer.request("a"), peer.request("b")].map((each) => each.catch((error: unknown) => error));
  await far.close();
  for (const error of await Promise.all(waiting)) expect(error).toMatchObject({ name: "ChannelError", code: "closed" });
  expect(await peer.ended).toEqual({ kind: "peer_closed" });
  await expect(peer.request("c")).rejects.toMatchObject({ code: "closed" });
  await peer.closed;
});

test("close rejects pending requests and aborts those in progress, with the reason", async () => {
  const started = deferred<AbortSignal>();
  const { peer, far } = scripted({
    requests: handlers({
      hang: (_params, context) => {
        started.resolve(context.signal);
        return new Promise(() => {});
      },
    }),
  });
  await far.send({ id: 1, method: "hang" });
  const signal = await started.promise;
  const waiting = peer.request("a").catch((error: unknown) => error);
  expect(signal.aborted).toBe(false);
  await Promise.all([peer.close({ reason: "shutting down" }), peer.close()]);
  expect(signal.aborted).toBe(true);
  expect(await waiting).toMatchObject({ code: "closed", message: "JSON-RPC peer was closed: shutting down" });
  expect(await peer.ended).toEqual({ kind: "closed" });
  expect(await peer.closed).toEqual({ kind: "closed" });
});

test("an abandoned request rejects with the signal's reason, and its late response is not unexpected", async () => {
  const unexpected: UnexpectedMessage[] = [];
  const { peer, far } = scripted({ onUnexpected: (message) => unexpected.push(message) });
  const controller = new AbortController();
  const answer = peer.request("a", null, { signal: controller.signal });
  controller.abort(new Error("user went away"));
  await expect(answer).rejects.toThrow("user went away");
  await expect(peer.request("b", null, { signal: controller.signal })).rejects.toThrow("user went away");
  const next = peer.request("c");
  await far.send({ id: 1, result: "late" });
  await far.send({ id: 2, result: "c" });
  expect(await next).toBe("c");
  expect(unexpected).toEqual([]);
  await far.send({ id: 1, result: "twice" });
  await far.send({ id: "2", error: { code: 1, message: "nobody asked" } });
  await far.send({ method: "unheard" });
  await drainAfter(far, peer);
  expect(unexpected).toMatchObject([
    { kind: "response", id: 1, result: "twice" },
    { kind: "error", id: "2", error: { code: 1, message: "nobody asked" } },
    { kind: "notification", method: "unheard" },
  ]);
});

test("passes malformed frames and messages to its hook, and stays open", async () => {
  const { peer, far } = scripted({
    requests: handlers({ ok: () => 1 }),
    onMalformed: (problem) => void peer.sendError(-1, new RpcError(-32600, `failed to parse: ${problem}`)),
  });
  for (const text of ["{not json", "[]", '{"id":null,"method":"ok"}', "{}"]) {
    await sendText(far, text);
    expect(await nextValue(far)).toEqual({
      id: -1,
      error: { code: -32600, message: expect.stringMatching(/^failed to parse: ./) },
    });
  }
  await far.send({ id: 1, method: "ok" });
  expect(await nextValue(far)).toEqual({ id: 1, result: 1 });
});

test("closes on a malformed message without a hook", async () => {
  const { peer, far } = scripted();
  const waiting = peer.request("a").catch((error: unknown) => error);
  await sendText(far, '{"id":null,"error":{"code":1,"message":"m"}}');
  expect(await waiting).toMatchObject({
    code: "closed",
    message: expect.stringMatching(/malformed message: `id` must/),
  });
  expect(await peer.closed).toEqual({ kind: "closed" });
  await drain(far);
});

test("calls notification handlers in order; one that throws is a malformed message", async () => {
  const problems: string[] = [];
  const seen: unknown[] = [];
  const { peer, far } = scripted({
    notifications: new Map<string, (params: unknown) => unknown>([
      ["see", (params) => void seen.push(params)],
      [
        "throw",
        () => {
          throw new Error("no seq");
        },
      ],
      ["reject", () => Promise.reject(new Error("no base64"))],
    ]),
    onMalformed: (problem) => problems.push(problem),
  });
  await far.send({ method: "see", params: 1 });
  await far.send({ method: "throw" });
  await far.send({ method: "reject" });
  await far.send({ method: "see", params: 2 });
  await drainAfter(far, peer);
  expect(seen).toEqual([1, 2]);
  expect(problems).toEqual(["notification `throw`: no seq", "notification `reject`: no base64"]);
});

test("a hook that throws closes the peer", async () => {
  const { peer, far } = scripted({
    onUnexpected: (message) => {
      throw new Error(`unexpected ${message.kind}`);
    },
  });
  const waiting = peer.request("a").catch((error: unknown) => error);
  await far.send({ method: "surprise" });
  expect(await waiting).toMatchObject({ message: "JSON-RPC peer was closed: unexpected notification" });
  await peer.closed;
});

test("hooks choose the response to unknown methods and to errors of handlers", async () => {
  const { far } = scripted({
    unknownRequest: (_params, { method }) => {
      throw new RpcError(-32601, `no ${method} here`);
    },
    requests: handlers({
      fail: () => {
        throw new TypeError("private detail");
      },
    }),
    errorOf: (_error, { method }) => new RpcError(-32603, `${method} failed`),
  });
  await far.send({ id: 1, method: "x" });
  expect(await nextValue(far)).toEqual({ id: 1, error: { code: -32601, message: "no x here" } });
  await far.send({ id: 2, method: "fail" });
  expect(await nextValue(far)).toEqual({ id: 2, error: { code: -32603, message: "fail failed" } });
});

test("both ends may send requests, also while handling one", async () => {
  const [left, right] = createMemoryChannelPair();
  const asker = new Peer(left, { requests: handlers({ base: () => 40 }) });
  const answerer: Peer = new Peer(right, {
    requests: handlers({ add: async (params) => Number(await answerer.request("base")) + Number(params) }),
  });
  open.push(asker, answerer);
  expect(await Promise.all([asker.request("add", 1), asker.request("add", 2)])).toEqual([41, 42]);
});
