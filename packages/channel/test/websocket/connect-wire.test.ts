import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectWire } from "../../src/websocket/connect-wire.js";

/** A connected pair, through a unix socket or TCP. */
async function open(kind: "unix" | "tcp"): Promise<{ wire: Socket; peer: Socket }> {
  const directory = mkdtempSync(join(tmpdir(), "codex-wire-"));
  const server = createServer();
  const path = join(directory, "socket");
  if (kind === "unix") server.listen(path);
  else server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted: Promise<Socket[]> = once(server, "connection");
  const wire = connectWire(
    kind === "unix" ? { path } : { host: "127.0.0.1", port: (server.address() as AddressInfo).port },
  );
  const [peer] = await accepted;
  onTestFinished(() => {
    wire.destroy();
    peer!.destroy();
    server.close();
    rmSync(directory, { recursive: true });
  });
  return { wire, peer: peer! };
}

const hashOf = (chunks: readonly Buffer[]) => createHash("sha256").update(Buffer.concat(chunks)).digest("hex");

test.runIf(process.platform === "linux")("reads more than 64 KiB at once", async () => {
  const { wire, peer } = await open("unix");
  const sizes: number[] = [];
  // The kernel holds all of it before anything is read.
  peer.write(Buffer.alloc(160 * 1024), () => wire.on("data", ({ length }: Buffer) => sizes.push(length)));
  await expect.poll(() => sizes.reduce((sum, size) => sum + size, 0)).toBe(160 * 1024);
  expect(sizes).toEqual([64 * 1024, 96 * 1024]);
});

test("every byte arrives in order, before and after pauses, and then the end", async () => {
  const { wire, peer } = await open("tcp");
  const pieces = Array.from({ length: 400 }, (_, i) => Buffer.alloc(1 + ((i * 7919) % 100_000), `${i},`));
  const received: Buffer[] = [];
  wire.on("data", (bytes: Buffer) => {
    received.push(bytes);
    if (received.length % 5 !== 0) return;
    wire.pause();
    setImmediate(() => wire.resume());
  });
  for (const piece of pieces) peer.write(piece);
  peer.end();
  await once(wire, "end");
  expect(hashOf(received)).toBe(hashOf(pieces));
});

test("a short message does not hold the memory of a flood", async () => {
  const { wire, peer } = await open("tcp");
  let flood = 0;
  let last: Buffer = Buffer.alloc(0);
  wire.on("data", (bytes: Buffer) => {
    flood += bytes.length;
    last = bytes;
  });
  peer.write(Buffer.alloc(4 * 1024 * 1024));
  await expect.poll(() => flood).toBe(4 * 1024 * 1024);
  peer.write(Buffer.alloc(20_000, "a"));
  await expect.poll(() => flood).toBe(4 * 1024 * 1024 + 20_000);
  // Node's pool for short buffers has 8 or 64 KiB, as its version has it.
  expect(last.buffer.byteLength).toBeLessThanOrEqual(64 * 1024);
});

test("what was received stays as it was when a listener throws", async () => {
  const { wire, peer } = await open("tcp");
  const failure = new Error("thrown by the listener");
  const thrown = new Promise((resolve) => process.once("uncaughtException", resolve));
  const received: Buffer[] = [];
  wire.on("data", (bytes: Buffer) => {
    received.push(bytes);
    throw failure;
  });
  peer.on("error", () => {});
  peer.write(Buffer.alloc(60_000, "A"));
  expect(await thrown).toBe(failure);
  peer.write(Buffer.alloc(60_000, "B"));
  await once(peer, "close");
  expect(hashOf(received)).toBe(hashOf([Buffer.alloc(received[0]!.length, "A")]));
});
