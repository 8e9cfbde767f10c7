import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { connectWebSocketChannel } from "../../src/websocket/index.js";

it("a peer that still takes what waits to be sent is alive, and one that takes nothing is not", async () => {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, autoPong: false });
  onTestFinished(() => server.close());
  await once(server, "listening");
  const accepted = once(server, "connection");
  const { port } = server.address() as AddressInfo; // listening on TCP
  const channel = await connectWebSocketChannel(`ws://127.0.0.1:${port}`);
  onTestFinished(() => channel.close({ abrupt: true }));
  const [socket] = await accepted;
  socket.pause();
  const readings = setInterval(() => {
    socket.resume();
    setTimeout(() => socket.pause(), 1);
  }, 10);
  onTestFinished(() => clearInterval(readings));
  const text = "x".repeat(1_000_000);
  for (let count = 0; count < 200; count += 1) channel.send({ text }).catch(() => {}); // closed before all is sent
  expect(await channel.isPeerAlive?.(200)).toBe(true);
  clearInterval(readings);
  await expect.poll(() => channel.isPeerAlive?.(50)).toBe(false);
});
