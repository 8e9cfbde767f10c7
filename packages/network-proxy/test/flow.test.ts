// What is passed on: everything, in order, and no more of it is held than fits into a few buffers.

import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { startProxy, startTcp } from "./support.js";

const BYTES = 24 * 1024 * 1024;
const SENT = randomBytes(BYTES);
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Reads all, with a pause after each 4 MB of it. */
async function readSlowly(socket: Socket): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let next = 4 * 1024 * 1024;
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes < next) return;
    next += 4 * 1024 * 1024;
    socket.pause();
    setTimeout(() => socket.resume(), 20);
  });
  socket.resume();
  await once(socket, "end");
  return Buffer.concat(chunks);
}

/** A tunnel through the proxy, once it is open; nothing reads it yet. */
async function openTunnel(handle: (socket: Socket) => void) {
  const to = await startTcp(handle);
  const { connect } = await startProxy({ domains: { "pub.example": "allow" } });
  const client = await connect();
  client.send(`CONNECT pub.example:${to} HTTP/1.1\r\n\r\n`);
  await client.receive("\r\n\r\n");
  client.socket.removeAllListeners("data").pause();
  return client;
}

describe("a tunnel", () => {
  it("passes what a host sends to a client that reads slowly", async () => {
    const { socket } = await openTunnel((host) => host.once("data", () => host.end(SENT)));
    const received = readSlowly(socket);
    socket.write("go");
    expect(sha256(await received)).toBe(sha256(SENT));
  });

  it("passes what a client sends to a host that reads slowly, and then the host's answer", async () => {
    const { socket } = await openTunnel(async (host) => host.end(sha256(await readSlowly(host))));
    socket.end(SENT);
    const answer = await readSlowly(socket);
    expect(answer.toString()).toBe(sha256(SENT));
  });

  it("does not read on from a host whose client does not read", async () => {
    let taken = 0;
    let host: Socket | undefined;
    const { socket } = await openTunnel((accepted) => {
      host = accepted;
      const send = () =>
        accepted.write(Buffer.alloc(1024 * 1024), (error) => {
          if (error) return;
          taken += 1;
          send();
        });
      accepted.once("data", send);
    });
    socket.write("go");
    let before = -1;
    while (taken === 0 || taken !== before) {
      before = taken;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    // The kernel's buffers on both sides, and ours.
    expect(taken).toBeLessThan(64);
    const closed = new Promise<void>((resolve) => host!.once("close", () => resolve()));
    socket.destroy();
    await closed;
  });
});
