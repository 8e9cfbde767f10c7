import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { fileURLToPath } from "node:url";
import type { Channel } from "@codex/channel";
import { connectWebSocketChannel, createWebSocketListener } from "@codex/channel/websocket";
import { expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { nextValue } from "../support.js";

const LEAVE = fileURLToPath(new URL("programs/leave.mjs", import.meta.url));
const LONGER_THAN_ANY_TEST_MS = 2 ** 30;
/** FIN and the opcode of a close frame; its payload is masked and has 2 bytes. */
const CLOSE_FRAME = Buffer.of(0x88, 0x82);

it("does not wait for the peer to close as well, if asked", async () => {
  const http = createServer();
  const upgrader = new WebSocketServer({ noServer: true });
  const read: Buffer[] = [];
  http.on("upgrade", (request, wire: Duplex, head) => {
    onTestFinished(() => void wire.destroy());
    upgrader.handleUpgrade(request, wire, head, () => {
      wire.removeAllListeners("data").on("data", (bytes: Buffer) => void read.push(bytes)); // never responds
    });
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  onTestFinished(() => void http.close());
  const { port } = http.address() as AddressInfo; // listening on TCP
  const channel = await connectWebSocketChannel(`ws://127.0.0.1:${port}`);
  void channel.send({ text: "last" });
  await channel.close({ awaitPeer: false, deadlineMs: LONGER_THAN_ANY_TEST_MS });
  await expect.poll(() => Buffer.concat(read).includes(CLOSE_FRAME)).toBe(true);
});

it("a process that does not wait for the peer has sent everything and has closed properly", {
  timeout: 60_000,
}, async () => {
  const accepted: Channel[] = [];
  const listener = await createWebSocketListener({ port: 0, onChannel: (channel) => void accepted.push(channel) });
  onTestFinished(() => listener.close());
  const program = spawn(process.execPath, [LEAVE, ...Array.from({ length: 20 }, () => listener.url)], {
    stdio: "inherit",
  });
  expect(await once(program, "exit")).toEqual([0, null]);
  expect(accepted).toHaveLength(20);
  for (const channel of accepted) {
    expect(await nextValue(channel)).toEqual({ text: "x".repeat(1_000_000) });
    expect(await channel.closed).toEqual({ kind: "peer_closed" });
  }
});
