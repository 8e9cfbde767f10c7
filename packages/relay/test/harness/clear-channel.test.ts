import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { decodeFrame, encodeFrame, type FrameBody, isClearRelayUrl, openClearChannel } from "../../src/index.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** An executor of the old relay: it gets frames, and answers as the test says. */
async function start() {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  closing.push(() => server.close());
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/relay?role=harness`;
  const connected = once(server, "connection") as Promise<[WebSocket]>;
  const channel = await openClearChannel({ url });
  closing.push(() => channel.close({ deadlineMs: 0 }));
  const [socket] = await connected;
  const frames: { streamId: string; body: FrameBody }[] = [];
  socket.on("message", (data) => {
    const decoded = decodeFrame(data as Buffer);
    if (decoded.ok) frames.push(decoded.frame);
  });
  await channel.send({ id: 1 });
  await expect.poll(() => frames.at(-1)?.body.kind).toBe("data");
  const { streamId } = frames.at(-1)!;
  const send = (body: FrameBody, id = streamId) => socket.send(encodeFrame({ streamId: id, body }));
  return { channel, socket, frames, send };
}

const message = (value: unknown): FrameBody => ({ kind: "data", seq: 0, payload: Buffer.from(JSON.stringify(value)) });

it("sends a message in a frame, and takes those of its own stream, whatever their numbers", async () => {
  const { channel, socket, frames, send } = await start();
  expect(frames.at(-1)?.body).toMatchObject({ seq: 0, payload: Buffer.from('{"id":1}') });
  send(message("of another stream"), "other");
  socket.send("text");
  socket.send(Buffer.from("no frame"));
  send(message("one"));
  send(message("two"));
  expect(await channel.receive()).toMatchObject({ value: "one" });
  expect(await channel.receive()).toMatchObject({ value: "two" });
  const large = "m".repeat(1_000_000);
  send(message(large));
  expect(await channel.receive()).toMatchObject({ value: large });
});

it("ends with a reset, and says goodbye with one", async () => {
  const one = await start();
  one.send({ kind: "reset", reason: "gone" });
  expect(await one.channel.receive()).toBeUndefined();
  expect(await one.channel.closed).toMatchObject({ kind: "failed", error: { message: "the stream was reset" } });
  const two = await start();
  await two.channel.close();
  await expect.poll(() => two.frames.at(-1)?.body.kind).toBe("reset");
});

test.each([
  ["ws://host/x?role=harness", true],
  ["wss://host/x?a=b&role=harness", true],
  ["ws://host/role=harness", false],
  ["ws://host/x?role=executor", false],
  ["role=harness", false],
])("%s is an address of the old relay: %s", (url, expected) => expect(isClearRelayUrl(url)).toBe(expected));
