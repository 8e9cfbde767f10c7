import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import type { Channel } from "@codex/channel";
import {
  connectWebSocketChannel,
  createWebSocketListener,
  type ListenOptions,
  type WebSocketListener,
} from "@codex/channel/websocket";
import { afterEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { DEFAULT_PING } from "../../src/websocket/listen.js";
import { drain, expectRejection, nextValue } from "../support.js";

let listener: WebSocketListener;
let accepted: Channel[];
const clients: Channel[] = [];

async function listen(options: Partial<ListenOptions> = {}): Promise<void> {
  accepted = [];
  listener = await createWebSocketListener({ port: 0, onChannel: (channel) => accepted.push(channel), ...options });
}

async function connect(...args: Parameters<typeof connectWebSocketChannel>): Promise<Channel> {
  const channel = await connectWebSocketChannel(...args);
  clients.push(channel);
  return channel;
}

afterEach(async () => {
  await listener.close({ deadlineMs: 200 });
  for (const client of clients.splice(0)) await client.close();
});

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Status and body of a request, upgraded or not. */
async function ask(path: string, headers: Record<string, string> = {}, method = "GET"): Promise<[number, string]> {
  const { port } = listener;
  const asked: ClientRequest = request({ host: "127.0.0.1", port, path, headers, method, agent: false });
  asked.end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    asked.once("response", resolve);
    asked.once("upgrade", (upgraded, socket) => {
      socket.destroy();
      resolve(upgraded);
    });
    asked.once("error", reject);
  });
  if (response.statusCode === 101) return [101, ""];
  return [response.statusCode ?? 0, (await response.setEncoding("utf8").toArray()).join("")];
}

test("listens on loopback and reports its address", async () => {
  await listen();
  expect(listener.url).toBe(`ws://127.0.0.1:${listener.port}`);
  const client = await connect(listener.url);
  await client.send("hello");
  expect(await nextValue(accepted[0]!)).toBe("hello");
  await accepted[0]!.send("back");
  expect(await nextValue(client)).toBe("back");
});

test("reports the path, and brackets an IPv6 address", async () => {
  await listen({ host: "::1", path: "/exec" });
  expect(listener.url).toBe(`ws://[::1]:${listener.port}/exec`);
  await connect(listener.url);
});

test("refuses every request with an Origin, before anything else", async () => {
  let asked = 0;
  const authorize = () => {
    asked++;
    return { ok: true } as const;
  };
  await listen({ authorize, onHttp: () => expect.unreachable("asked with an Origin") });
  for (const origin of ["null", "https://evil.example", listener.url.replace("ws", "http")]) {
    expect(await ask("/", { ...UPGRADE, origin })).toEqual([403, ""]);
    expect(await ask("/", { origin })).toEqual([403, ""]);
    expect(await ask("/none", { ...UPGRADE, origin })).toEqual([403, ""]);
  }
  expect(asked).toBe(0);
  expect(accepted).toEqual([]);
  await expectRejection(connect(listener.url, { headers: { origin: "https://evil.example" } }), "unauthorized", /403/);
});

test("accepts listed origins by exact match", async () => {
  await listen({ allowOrigin: ["https://good.example"] });
  expect(await ask("/", { ...UPGRADE, origin: "https://good.example" })).toEqual([101, ""]);
  expect(await ask("/", { ...UPGRADE, origin: "https://good.example.evil.example" })).toEqual([403, ""]);
});

test("calls authorize before the upgrade and responds with its status and message", async () => {
  await listen({
    authorize: async ({ headers }) => {
      if (headers.authorization === "Bearer right") return { ok: true };
      if (headers.authorization === "Bearer throw") throw new Error("no secrets in answers");
      return { ok: false, status: 401, message: "invalid websocket bearer token" };
    },
  });
  expect(await ask("/", UPGRADE)).toEqual([401, "invalid websocket bearer token"]);
  expect(await ask("/", { ...UPGRADE, authorization: "Bearer throw" })).toEqual([500, "authorization failed"]);
  const refused = connect(listener.url, { headers: { authorization: "Bearer wrong" } });
  await expectRejection(refused, "unauthorized", /HTTP 401: invalid websocket bearer token/);
  expect(accepted).toEqual([]);
  await connect(listener.url, { headers: { authorization: "Bearer right" } });
  expect(accepted).toHaveLength(1);
});

test("upgrades one path, and passes plain requests to onHttp", async () => {
  await listen({
    path: "/exec",
    onHttp: ({ url }, response) => {
      if (url !== "/readyz") return false;
      response.writeHead(200).end();
      return true;
    },
  });
  expect(await ask("/readyz")).toEqual([200, ""]);
  expect(await ask("/readyz", {}, "HEAD")).toEqual([200, ""]);
  expect(await ask("/exec")).toEqual([400, expect.stringContaining("upgrade")]);
  expect(await ask("/")).toEqual([404, ""]);
  expect(await ask("/", UPGRADE)).toEqual([404, ""]);
  expect(await ask("/exec/", UPGRADE)).toEqual([404, ""]);
  expect(await ask("/exec?token=x", UPGRADE)).toEqual([101, ""]);
  expect(await ask("/exec", { ...UPGRADE, "sec-websocket-version": "7" })).toEqual([
    400,
    expect.stringContaining("Version"),
  ]);
  await expectRejection(connect(listener.url.replace("exec", "other")), "connect_failed", /404/);
});

test("responds with 500 when onHttp throws", async () => {
  await listen({
    onHttp: () => {
      throw new Error("out of order");
    },
  });
  expect(await ask("/")).toEqual([500, ""]);
});

test("selects no sub-protocol and no extension", async () => {
  await listen();
  const socket = new WebSocket(listener.url, { perMessageDeflate: true });
  await once(socket, "open");
  expect([socket.protocol, socket.extensions]).toEqual(["", ""]);
  socket.terminate();
  await drain(accepted[0]!);
});

test("reads text and binary frames, and writes text frames", async () => {
  await listen();
  const socket = new WebSocket(listener.url);
  await once(socket, "open");
  socket.send('{"text":1}');
  socket.send(Buffer.from('{"binary":1}'), { binary: true });
  socket.send("");
  socket.send(Buffer.from([0x22, 0xff, 0x22]), { binary: false });
  const server = accepted[0]!;
  expect([await nextValue(server), await nextValue(server)]).toEqual([{ text: 1 }, { binary: 1 }]);
  expect(await server.receive()).toEqual({ kind: "malformed", problem: expect.stringContaining("0 bytes") });
  expect(await server.receive()).toEqual({ kind: "malformed", problem: expect.stringContaining("not valid UTF-8") });
  const frame = once(socket, "message");
  await server.sendEncoded(Buffer.from('{"out":1}'));
  expect(await frame).toEqual([Buffer.from('{"out":1}'), false]);
  socket.terminate();
  await drain(server);
});

test("a frame over the limit ends the connection with 1009, after earlier frames are delivered", async () => {
  await listen({ limits: { maxMessageBytes: 1_000 } });
  const client = await connect(listener.url);
  await client.send("before");
  await client.send("x".repeat(1_000));
  const server = accepted[0]!;
  expect(await nextValue(server)).toBe("before");
  expect(await server.receive()).toBeUndefined();
  expect(await server.closed).toMatchObject({ kind: "failed", error: { code: "too_large", message: /1000 bytes/ } });
  expect(await client.receive()).toBeUndefined();
  expect(await client.closed).toEqual({ kind: "peer_closed", detail: "code 1009" });
});

test("distinguishes a close frame with its code and reason from a broken connection", async () => {
  await listen();
  const orderly = new WebSocket(listener.url);
  await once(orderly, "open");
  orderly.close(4001, "bye now");
  expect(await accepted[0]!.closed).toEqual({ kind: "peer_closed", detail: "code 4001, bye now" });
  const broken = new WebSocket(listener.url);
  await once(broken, "open");
  broken.terminate();
  expect(await accepted[1]!.closed).toMatchObject({ kind: "failed", error: { code: "connection_lost" } });
});

test("a frame that violates the protocol fails only that connection", async () => {
  await listen();
  const asked = request({ host: "127.0.0.1", port: listener.port, headers: UPGRADE });
  asked.end();
  const [, socket] = await once(asked, "upgrade");
  socket.on("error", () => {});
  socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
  expect(await accepted[0]!.closed).toMatchObject({ kind: "failed", error: { code: "connection_lost" } });
  socket.destroy();
  await connect(listener.url);
});

test("pings, and disconnects a peer without pongs only when configured", async () => {
  await listen({ ping: { intervalMs: 5, maxMissedPongs: 3 } });
  const answering = new WebSocket(listener.url);
  for (let pings = 0; pings < 8; pings++) await once(answering, "ping");
  expect(answering.readyState).toBe(WebSocket.OPEN);
  const deaf = new WebSocket(listener.url, { autoPong: false });
  await once(deaf, "close");
  expect(await accepted[1]!.closed).toMatchObject({
    kind: "failed",
    error: { message: "peer did not answer 3 pings" },
  });
  answering.terminate();
  await listener.close();

  await listen({ ping: { intervalMs: 5 } });
  const tolerated = new WebSocket(listener.url, { autoPong: false });
  for (let pings = 0; pings < 8; pings++) await once(tolerated, "ping");
  expect(tolerated.readyState).toBe(WebSocket.OPEN);
  tolerated.terminate();
});

test("does not disconnect a peer whose pongs are not read", async () => {
  await listen({ ping: { intervalMs: 5, maxMissedPongs: 2 }, limits: { maxWaitingMessages: 1 } });
  const busy = new WebSocket(listener.url);
  await once(busy, "open");
  busy.send("1");
  busy.send("2");
  for (let pings = 0; pings < 8; pings++) await once(busy, "ping");
  const server = accepted[0]!;
  expect([await nextValue(server), await nextValue(server)]).toEqual([1, 2]);
  busy.terminate();
  await drain(server);
});

test("a peer that stops reading stays connected, and one that vanishes behind a backlog is disconnected", async () => {
  const ping = { intervalMs: 20, maxMissedPongs: 5 };
  await listen({ ping, limits: { highWaterBytes: 1024 } });
  const reader = await connect(listener.url, { limits: { maxWaitingMessages: 1 }, heartbeatMs: 5 });
  const server = accepted[0]!;
  void server.send(1);
  void server.send(2);
  const watch = new WebSocket(listener.url);
  for (let pings = 0; pings < 20; pings++) await once(watch, "ping");
  expect([await nextValue(reader), await nextValue(reader)]).toEqual([1, 2]);
  void server.send(3);
  expect(await nextValue(reader)).toBe(3);
  watch.terminate();

  const vanished = new WebSocket(listener.url, { autoPong: false });
  await once(vanished, "open");
  vanished.pause();
  const block = "x".repeat(64 * 1024);
  const flooding = (async () => {
    for (;;) await accepted[2]!.send(block);
  })();
  await expect(flooding).rejects.toThrow(/did not answer 5 pings/);
  vanished.terminate();
});

test("by default a peer is disconnected after two missed pongs", () => {
  expect(DEFAULT_PING).toEqual({ intervalMs: 20_000, maxMissedPongs: 2 });
});

test("refuses a connection over the limit, and accepts another when one has ended", async () => {
  await listen({ maxChannels: 1 });
  const first = await connect(listener.url);
  await expectRejection(connect(listener.url), "connect_failed", /503.*limit of 1 connections/);
  await first.close();
  await accepted[0]!.closed;
  await connect(listener.url);
});

test("closes the channel when onChannel throws", async () => {
  await listen({
    onChannel: () => {
      throw new Error("not today");
    },
  });
  const client = await connect(listener.url);
  expect(await client.receive()).toBeUndefined();
  expect(await client.closed).toEqual({ kind: "peer_closed" });
});

test("close ends every channel and request, and frees the port", async () => {
  let release!: () => void;
  const asked = new Promise<void>((resolve) => {
    release = resolve;
  });
  await listen({
    authorize: ({ url }) => {
      if (url === "/") return { ok: true };
      release();
      return new Promise(() => {});
    },
  });
  const client = await connect(listener.url);
  const hanging = connect(`${listener.url}/?wait`);
  const refused = expectRejection(hanging, "connect_failed", /./);
  await asked;
  const { url, port } = listener;
  await listener.close();
  await listener.close();
  await refused;
  expect(await client.receive()).toBeUndefined();
  expect(await accepted[0]!.closed).toEqual({ kind: "closed" });
  await expectRejection(connect(url), "connect_failed", /ECONNREFUSED/);
  await listen({ port });
  expect(listener.port).toBe(port);
});

test("an address in use and an invalid path are clear errors", async () => {
  await listen();
  const odd = createWebSocketListener({ port: 0, path: "exec", onChannel: () => {} });
  await expectRejection(odd, "listen_failed", /path `exec`: it does not begin with a slash/);
  const second = createWebSocketListener({ port: listener.port, onChannel: () => {} });
  await expectRejection(second, "listen_failed", new RegExp(`127.0.0.1 port ${listener.port}: the address is in use`));
});

test("an abrupt close sends queued frames, and no close frame", async () => {
  await listen({ onChannel: (channel) => void channel.send("last words").then(() => channel.close({ abrupt: true })) });
  const client = await connect(listener.url);
  expect(await nextValue(client)).toBe("last words");
  expect(await client.receive()).toBeUndefined();
  expect(await client.closed).toMatchObject({ kind: "failed", error: { code: "connection_lost" } });
});

test("a text of any length of header arrives whole, encoded here or by the caller", async () => {
  await listen();
  const client = new WebSocket(listener.url);
  const received: string[] = [];
  client.on("message", (data, isBinary) => received.push(`${isBinary} ${String(data)}`));
  await once(client, "open");
  const sent: string[] = [];
  for (const bytes of [2, 125, 126, 127, 4096, 4097, 65_535, 65_536, 70_000]) {
    const text = "é".repeat(bytes % 2) + "x".repeat(bytes - 2 - 2 * (bytes % 2));
    sent.push(`false "${text}"`, `false "${text}"`);
    await accepted[0]!.send(text);
    await accepted[0]!.sendEncoded(Buffer.from(JSON.stringify(text)));
  }
  await accepted[0]!.close();
  expect(received).toEqual(sent);
});
