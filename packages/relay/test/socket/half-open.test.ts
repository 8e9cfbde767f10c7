// Sockets whose peer is gone without a word: no data, no close frame, no answer to a ping.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { FakeClock } from "@codex/clock/testing";
import { expect, it, onTestFinished } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { MAX_FRAME_BYTES, MAX_SPREAD_MS, PING_MS, PONG_TIMEOUT_MS } from "../../src/limits.js";
import { FrameSocket } from "../../src/socket/frame-socket.js";

async function start(autoPong: boolean) {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", autoPong });
  await once(server, "listening");
  const accepted = once(server, "connection") as Promise<[WebSocket]>;
  const clock = new FakeClock();
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const socket = await FrameSocket.dial(url, { clock, maxMessageBytes: MAX_FRAME_BYTES });
  const [peer] = await accepted;
  onTestFinished(async () => {
    peer.terminate();
    await socket.close(0);
    server.close();
    await once(server, "close");
  });
  const closed = new Promise<string>((resolve) => {
    socket.start({ onMessage: () => {}, onWritten: () => {}, onClosed: resolve });
  });
  return { clock, socket, peer, closed };
}

it("is cut when a ping is not answered in time", async () => {
  const { clock, closed } = await start(false);
  clock.advance(PING_MS);
  clock.advance(PONG_TIMEOUT_MS - 1);
  expect(clock.pending).toBe(1);
  clock.advance(1);
  expect(await closed).toContain("did not respond to a ping");
});

it("stays while its pings are answered", async () => {
  const { clock, peer } = await start(true);
  for (let n = 0; n < 5; n += 1) {
    const pinged = once(peer, "ping");
    clock.advance(PING_MS);
    await pinged;
    await clock.timer(PING_MS);
  }
  expect(peer.readyState).toBe(peer.OPEN);
});

it.each([
  ["spread=5000", 5000],
  ["spread=999999999", MAX_SPREAD_MS],
  ["spread=0", 0],
  ["", undefined],
  ["spread=5000 ", undefined],
])("reads the spread in a ping of %j as %s ms", async (payload, expected) => {
  const { socket, peer } = await start(true);
  const answered = once(peer, "pong");
  peer.ping(payload);
  await answered;
  expect(socket.spreadMs).toBe(expected);
});
