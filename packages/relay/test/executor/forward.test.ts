import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { forwardStream } from "../../src/index.js";
import { type Relayed, startRelayed } from "../pair.js";

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** A stream that is forwarded to an echo, and what the echo got. */
async function start(): Promise<{
  relayed: Relayed;
  server: WebSocketServer;
  got: { text: string; isBinary: boolean }[];
}> {
  const relayed = await startRelayed();
  closing.push(() => relayed.close());
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  closing.push(() => server.close());
  const got: { text: string; isBinary: boolean }[] = [];
  server.on("connection", (socket) => {
    socket.on("message", (data, isBinary) => {
      got.push({ text: String(data), isBinary });
      socket.send(String(data));
    });
  });
  return { relayed, server, got };
}

const urlOf = (server: WebSocketServer) => `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;

it("passes messages on as they are, as bytes, over a socket for each stream", async () => {
  const { relayed, server, got } = await start();
  for (const value of ["one", "two"]) {
    const { harness, accepted } = await relayed.open();
    const forwarded = forwardStream(await accepted, { destination: urlOf(server) });
    await harness.sendEncoded(Buffer.from(`{"id": "${value}" }`));
    expect(await harness.receive()).toMatchObject({ value: { id: value } });
    harness.binary?.accept();
    await harness.binary?.send(Buffer.from("head"), Buffer.from("body"));
    const frame = await harness.receive();
    expect(frame).toMatchObject({ kind: "bytes", head: Buffer.from("head"), bytes: Buffer.from("body") });
    expect(got.pop()).toMatchObject({ isBinary: true });
    await harness.close();
    await forwarded;
  }
  expect(got).toEqual(["one", "two"].map((value) => ({ text: `{"id": "${value}" }`, isBinary: true })));
});

it("ends the stream when the destination ends or cannot be reached, and no other", async () => {
  const { relayed, server } = await start();
  const one = await relayed.open();
  const forwarded = forwardStream(await one.accepted, { destination: urlOf(server) });
  await one.harness.send(1);
  await one.harness.receive();
  const two = await relayed.open();
  const refused = forwardStream(await two.accepted, { destination: "ws://127.0.0.1:1" });
  await refused;
  expect(await two.harness.receive()).toBeUndefined();
  await one.harness.send(2);
  expect(await one.harness.receive()).toMatchObject({ value: 2 });
  for (const socket of server.clients) socket.terminate();
  await forwarded;
  expect(await one.harness.receive()).toBeUndefined();
});
