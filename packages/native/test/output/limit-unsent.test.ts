import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { createUnsentLimit } from "../../src/index.js";
import { bindLibc } from "../../src/libc/bind.js";
import { LOCAL_SEND_BUFFER_BYTES } from "../../src/limits.js";

const { getsockopt } = bindLibc<{
  getsockopt(fd: number, level: number, option: number, value: Int32Array, bytes: Int32Array): number;
}>({ getsockopt: "int getsockopt(int fd, int level, int option, void *value, void *bytes)" });

const SOL_SOCKET = 1;
const SO_SNDBUF = 7;

/** The kernel counts twice the bytes that were set. */
function getSendBuffer(socket: Socket): number {
  const { fd } = (socket as Socket & { _handle: { fd: number } })._handle;
  const value = Int32Array.of(0);
  expect(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, value, Int32Array.of(4))).toBe(0);
  return value[0]!;
}

async function connectLocally(): Promise<Socket> {
  const server = createServer((socket) => socket.on("error", () => {}));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  return socket;
}

it.runIf(process.platform === "linux")("bounds what the kernel buffers for a peer on this host", async () => {
  const socket = await connectLocally();
  const before = getSendBuffer(socket);
  createUnsentLimit()(socket);
  expect(getSendBuffer(socket)).toBe(before);
  socket.emit("drain");
  const allowed = Number(readFileSync("/proc/sys/net/core/wmem_max", "latin1"));
  expect(getSendBuffer(socket)).toBe(2 * Math.min(LOCAL_SEND_BUFFER_BYTES, allowed));
});

it.runIf(process.platform === "linux")("leaves it to the kernel for other hosts", async () => {
  const socket = await connectLocally();
  Object.defineProperty(socket, "remoteAddress", { value: "192.0.2.1" });
  const before = getSendBuffer(socket);
  createUnsentLimit()(socket);
  socket.emit("drain");
  expect(getSendBuffer(socket)).toBe(before);
});
