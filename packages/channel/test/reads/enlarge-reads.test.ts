import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer, type Server, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { describe, expect, onTestFinished, test } from "vitest";
import { enlargeReads } from "../../src/reads/enlarge-reads.js";
import { connectWire } from "../../src/websocket/connect-wire.js";
import { turn } from "../support.js";

const KIB = 1024;

type Kind = "TCP" | "unix socket";

async function open(kind: Kind, server: Server = createServer()): Promise<{ wire: Socket; peer: Socket }> {
  const directory = mkdtempSync(join(tmpdir(), "codex-wire-"));
  const path = join(directory, "socket");
  if (kind === "unix socket") server.listen(path);
  else server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted: Promise<Socket[]> = once(server, "connection");
  const { port } = (server.address() ?? {}) as AddressInfo;
  const wire = connectWire(kind === "unix socket" ? { path } : { host: "127.0.0.1", port });
  const [[peer]] = await Promise.all([accepted, once(wire, "connect")]);
  onTestFinished(() => {
    wire.destroy();
    peer!.destroy();
    server.close();
    rmSync(directory, { recursive: true });
  });
  return { wire, peer: peer! };
}

function collect(wire: Socket) {
  const chunks: Buffer[] = [];
  wire.on("data", (bytes: Buffer) => chunks.push(bytes));
  return {
    chunks,
    receives: (size: number) =>
      expect.poll(() => chunks.reduce((sum, { length }) => sum + length, 0), { timeout: 10_000 }).toBe(size),
  };
}

/** Pieces of 1 to 100,000 bytes, each of which differs. */
const piecesOf = (count: number) =>
  Array.from({ length: count }, (_, i) => Buffer.alloc(1 + ((i * 7919) % 100_000), `${i},`));
const sizeOf = (chunks: readonly Buffer[]) => chunks.reduce((sum, { length }) => sum + length, 0);
const hashOf = (chunks: readonly Buffer[]) => createHash("sha256").update(Buffer.concat(chunks)).digest("hex");

describe.each<Kind>(["TCP", "unix socket"])("over %s", (kind) => {
  test("every byte arrives in order, before and after pauses, and then the end", async () => {
    const { wire, peer } = await open(kind);
    const { chunks } = collect(wire);
    wire.on("data", () => {
      if (chunks.length % 5 !== 0) return;
      wire.pause();
      setImmediate(() => wire.resume());
    });
    const pieces = piecesOf(400);
    for (const piece of pieces) peer.write(piece);
    peer.end();
    await once(wire, "end");
    expect(hashOf(chunks)).toBe(hashOf(pieces));
  });

  test("every byte arrives, and stays as it was, around listeners that throw at once and in the next tick", async () => {
    const { wire, peer } = await open(kind);
    const { chunks, receives } = collect(wire);
    const thrown: unknown[] = [];
    const onThrown = (error: unknown) => thrown.push(error);
    process.on("uncaughtException", onThrown);
    onTestFinished(() => void process.off("uncaughtException", onThrown));
    const failure = new Error("thrown by a listener");
    const fail = () => {
      throw failure;
    };
    wire.on("data", () => {
      if (chunks.length % 3 === 0) process.nextTick(fail);
      if (chunks.length % 4 === 0) fail();
    });
    const pieces = piecesOf(400);
    for (const piece of pieces) peer.write(piece);
    await receives(sizeOf(pieces));
    expect(hashOf(chunks)).toBe(hashOf(pieces));
    expect(new Set(thrown)).toEqual(new Set([failure]));
  });

  test("a consumer that pauses is pushed no more than by Node alone", async () => {
    const { wire, peer } = await open(kind);
    wire.once("data", () => wire.pause());
    peer.write(Buffer.alloc(4 * KIB * KIB));
    await expect.poll(() => wire.readableLength).toBeGreaterThan(0);
    for (let i = 0; i < 20; i++) await turn();
    expect(wire.readableLength).toBeLessThanOrEqual(128 * KIB);
  });

  test("nobody can transfer memory that others have parts of", async () => {
    const { wire, peer } = await open(kind);
    const { chunks, receives } = collect(wire);
    const copies: Buffer[] = [];
    wire.on("data", (bytes: Buffer) => {
      copies.push(Buffer.from(bytes));
      if (bytes.length === bytes.buffer.byteLength) return;
      try {
        // Node 22 throws; Node 20 copies.
        structuredClone(bytes, { transfer: [bytes.buffer as ArrayBuffer] });
      } catch (error) {
        expect(error).toMatchObject({ name: "DataCloneError" });
      }
    });
    const pieces = piecesOf(100);
    for (const piece of pieces) peer.write(piece);
    await receives(sizeOf(pieces));
    expect(hashOf(copies)).toBe(hashOf(pieces));
    expect(hashOf(chunks)).toBe(hashOf(pieces));
  });
});

describe.runIf(process.platform === "linux")("on Linux, whose unix sockets hold 160 KiB", () => {
  test("reads more than 64 KiB at once", async () => {
    const { wire, peer } = await open("unix socket");
    const { chunks, receives } = collect(wire);
    peer.write(Buffer.alloc(160 * KIB));
    await receives(160 * KIB);
    expect(chunks.map(({ length }) => length)).toEqual([64 * KIB, 96 * KIB]);
  });

  test("reports a connection that was reset after a full read", async () => {
    const { wire, peer } = await open("unix socket", createServer({ pauseOnConnect: true }));
    const { receives } = collect(wire);
    const failed = new Promise((resolve) => wire.once("error", resolve));
    wire.write("never read, so the kernel resets the connection");
    peer.write(Buffer.alloc(64 * KIB));
    peer.destroy();
    await receives(64 * KIB);
    expect(await failed).toMatchObject({ code: "ECONNRESET", syscall: "read" });
  });
});

test("streams that are not pipes, and sockets that are not open, stay as they are", async () => {
  const received: number[] = [];
  for (const stream of [new PassThrough(), new Socket()]) {
    enlargeReads(stream);
    stream.on("data", ({ length }: Buffer) => received.push(length));
    stream.push(Buffer.alloc(64 * KIB));
  }
  await expect.poll(() => received).toEqual([64 * KIB, 64 * KIB]);
});

test("the bytes below TLS are never read", async () => {
  const key = Buffer.alloc(32, 1);
  const tls = { ciphers: "PSK-AES256-GCM-SHA384", minVersion: "TLSv1.2", maxVersion: "TLSv1.2" } as const;
  const server = createTlsServer({ ...tls, pskCallback: () => key });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted: Promise<Socket[]> = once(server, "secureConnection");
  const socket = connectTls({
    ...tls,
    host: "127.0.0.1",
    port: (server.address() as AddressInfo).port,
    pskCallback: () => ({ psk: key, identity: "test" }),
    checkServerIdentity: () => undefined,
  });
  const [[peer]] = await Promise.all([accepted, once(socket, "secureConnect")]);
  onTestFinished(() => {
    socket.destroy();
    peer!.destroy();
    server.close();
  });
  enlargeReads(socket);
  const { chunks, receives } = collect(socket);
  peer!.write("a");
  await receives(1);
  // As if it was a full read, while the kernel holds the encrypted bytes.
  peer!.write(Buffer.alloc(1000, "a"));
  socket.push(Buffer.alloc(64 * KIB, "b"));
  await receives(64 * KIB + 1001);
  expect(hashOf(chunks)).toBe(hashOf([Buffer.from("a"), Buffer.alloc(64 * KIB, "b"), Buffer.alloc(1000, "a")]));
});
