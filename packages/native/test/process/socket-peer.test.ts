import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createPeerReader } from "../../src/process/socket-peer.js";
import { lacking } from "../support.js";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0).reverse()) close();
});

async function accept(): Promise<Socket> {
  const directory = mkdtempSync(join(tmpdir(), "peer-"));
  const server = createServer();
  server.listen(join(directory, "socket"));
  await once(server, "listening");
  const near = connect(join(directory, "socket"));
  const [far] = (await once(server, "connection")) as [Socket];
  closing.push(
    () => rmSync(directory, { recursive: true }),
    () => server.close(),
    () => near.destroy(),
    () => far.destroy(),
  );
  return far;
}

it("returns the user and the process of the peer of a unix socket", async () => {
  const peer = createPeerReader()(await accept());
  expect(peer?.uid).toBe(process.getuid?.());
  expect(peer?.pid).toBe(process.platform === "linux" ? process.pid : undefined);
});

it("returns nothing for a closed socket", async () => {
  const socket = await accept();
  socket.destroy();
  expect(createPeerReader()(socket)).toBeUndefined();
});

it.runIf(process.platform === "linux")("names nobody where the C library cannot tell", async () => {
  expect(createPeerReader(lacking("getsockopt"))(await accept())).toBeUndefined();
});
