import { createHash } from "node:crypto";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { PassThrough, Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { runBridge } from "../../src/background/bridge.js";

const open: { destroy(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.destroy();
});

/** Both ends of a connection. */
async function connectPair(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ allowHalfOpen: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const near = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const [far] = (await once(server, "connection")) as [Socket];
  server.close();
  for (const socket of [near, far]) socket.on("error", () => {});
  open.push(near, far);
  return { near, far };
}

const BLOCK = Buffer.alloc(64 * 1024, "0123456789abcdef");
const BLOCKS = 512;

function* blocks(): Generator<Buffer> {
  for (let count = 0; count < BLOCKS; count += 1) {
    const block = Buffer.from(BLOCK);
    block.writeUInt32BE(count);
    yield block;
  }
}

function digestOf(chunks: Iterable<Buffer>): string {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

it("relays every byte in both directions at once, to a slow reader", async () => {
  const { near, far } = await connectPair();
  far.pipe(far);
  const hash = createHash("sha256");
  let waiting = 0;
  const output = new Writable({
    highWaterMark: 16 * 1024,
    write(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      waiting = Math.max(waiting, output.writableLength);
      setImmediate(done);
    },
  });
  expect(await runBridge({ input: Readable.from(blocks()), output, socket: near })).toBe("detached");
  expect(hash.digest("hex")).toBe(digestOf(blocks()));
  // Held back: at most one read of the socket above the mark.
  expect(waiting).toBeLessThan(256 * 1024);
});

it("half-closes the socket at the end of its input, and relays the rest of the output", async () => {
  const { near, far } = await connectPair();
  const output = new PassThrough();
  const ended = runBridge({ input: Readable.from([Buffer.from("question")]), output, socket: near });
  let asked = "";
  far.on("data", (chunk: Buffer) => {
    asked += chunk.toString();
  });
  await once(far, "end");
  expect(asked).toBe("question");
  far.end("answer");
  expect(await text(output)).toBe("answer");
  expect(await ended).toBe("detached");
});

it("does not wait forever for a server that neither responds nor ends", async () => {
  const { near } = await connectPair();
  expect(await runBridge({ input: Readable.from([]), output: new PassThrough(), socket: near }, 10)).toBe("detached");
});

it("reports `ended` when the server has closed the connection", async () => {
  const { near, far } = await connectPair();
  const output = new PassThrough();
  const ended = runBridge({ input: new PassThrough(), output, socket: near });
  far.end("last words");
  expect(await text(output)).toBe("last words");
  expect(await ended).toBe("ended");
});

it("reports `ended` when the connection was reset", async () => {
  const { near, far } = await connectPair();
  const ended = runBridge({ input: new PassThrough(), output: new PassThrough().resume(), socket: near });
  far.resetAndDestroy();
  expect(await ended).toBe("ended");
});

it("reports `detached` when its output has no reader any more", async () => {
  const { near, far } = await connectPair();
  const output = new PassThrough();
  const ended = runBridge({ input: new PassThrough(), output, socket: near });
  output.destroy(Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  expect(await ended).toBe("detached");
  far.resume();
  await once(far, "end");
});
