import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createPeerUser } from "../../src/process/peer-user.js";
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

it("returns the user of the peer of a unix socket", async () => {
  expect(createPeerUser()(await accept())).toBe(process.getuid?.());
});

it("returns nothing for a closed socket", async () => {
  const socket = await accept();
  socket.destroy();
  expect(createPeerUser()(socket)).toBeUndefined();
});

it.runIf(process.platform === "linux")("names nobody where the C library cannot tell", async () => {
  expect(createPeerUser(lacking("getsockopt"))(await accept())).toBeUndefined();
});
