import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type NetConnectOpts, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, onTestFinished, test } from "vitest";
import { enlargeReads } from "../../src/reads/enlarge-reads.js";
import { connectWire } from "../../src/websocket/connect-wire.js";

const KINDS = {
  "connectWire, TCP": { local: false, connect: connectWire },
  "connectWire, unix socket": { local: true, connect: connectWire },
  "enlargeReads, unix socket": { local: true, connect: connectEnlarged },
} as const;

/** As the stdout of a child process: Node has begun to read it. */
function connectEnlarged(options: NetConnectOpts): Socket {
  const socket = connect(options);
  socket.once("connect", () => enlargeReads(socket));
  return socket;
}

async function open(
  kind: keyof typeof KINDS,
  connect: (options: NetConnectOpts) => Socket = KINDS[kind].connect,
): Promise<{ wire: Socket; peer: Socket }> {
  const directory = mkdtempSync(join(tmpdir(), "codex-wire-"));
  const server = createServer();
  const path = join(directory, "socket");
  const { local } = KINDS[kind];
  if (local) server.listen(path);
  else server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted: Promise<Socket[]> = once(server, "connection");
  const wire = connect(local ? { path } : { host: "127.0.0.1", port: (server.address() as AddressInfo).port });
  const [[peer]] = await Promise.all([accepted, once(wire, "connect")]);
  onTestFinished(() => {
    wire.destroy();
    peer!.destroy();
    server.close();
    rmSync(directory, { recursive: true });
  });
  return { wire, peer: peer! };
}

const hashOf = (chunks: readonly Buffer[]) => createHash("sha256").update(Buffer.concat(chunks)).digest("hex");

describe.each(Object.keys(KINDS) as (keyof typeof KINDS)[])("%s", (kind) => {
  test.runIf(process.platform === "linux" && KINDS[kind].local)("reads more than 64 KiB at once", async () => {
    const { wire, peer } = await open(kind);
    const sizes: number[] = [];
    // The kernel holds all of it before anything is read.
    peer.write(Buffer.alloc(160 * 1024), () => wire.on("data", ({ length }: Buffer) => sizes.push(length)));
    await expect.poll(() => sizes.reduce((sum, size) => sum + size, 0)).toBe(160 * 1024);
    expect(sizes).toEqual([64 * 1024, 96 * 1024]);
  });

  test("every byte arrives in order, before and after pauses, and then the end", async () => {
    const { wire, peer } = await open(kind);
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
    const { wire, peer } = await open(kind);
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
    const { wire, peer } = await open(kind);
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
    // Not `once`, which an EPIPE of the peer would reject.
    await new Promise((resolve) => peer.once("close", resolve));
    expect(hashOf(received)).toBe(hashOf([Buffer.alloc(received[0]!.length, "A")]));
  });
});

test("a socket's own `onread` stays", async () => {
  const own = Buffer.alloc(1024);
  const callback = (size: number, memory: Uint8Array) => wire.push(Buffer.from(memory.subarray(0, size)));
  const { wire, peer } = await open("connectWire, unix socket", (options) => {
    const socket = connect({ ...options, onread: { buffer: own, callback } });
    enlargeReads(socket);
    return socket;
  });
  const sizes: number[] = [];
  wire.on("data", ({ length }: Buffer) => sizes.push(length));
  peer.write(Buffer.alloc(4096));
  await expect.poll(() => sizes).toEqual([1024, 1024, 1024, 1024]);
});

test("streams that are no open pipe stay as they are", async () => {
  const stream = new PassThrough();
  enlargeReads(stream);
  enlargeReads(new Socket());
  const { wire, peer } = await open("connectWire, TCP", (options) => connect(options).once("connect", enlargeThis));
  const sizes: number[] = [];
  wire.on("data", ({ length }: Buffer) => sizes.push(length));
  peer.write(Buffer.alloc(1024 * 1024));
  await expect.poll(() => sizes.reduce((sum, size) => sum + size, 0)).toBe(1024 * 1024);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(64 * 1024);
});

function enlargeThis(this: Socket): void {
  enlargeReads(this);
}
