import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { FRAME_START_BYTES, writeFrameStart } from "../../src/codec/binary-frame.js";
import { createStdioChannel } from "../../src/index.js";
import { LineSplitter } from "../../src/stdio/line-splitter.js";
import { nextFrame, nextValue } from "../support.js";

const MAX = 1_000;

function frame(head: string, body: string, bodyBytes = body.length): Buffer {
  const start = Buffer.alloc(FRAME_START_BYTES + head.length);
  writeFrameStart(start, 0, Buffer.from(head), bodyBytes);
  return Buffer.concat([start, Buffer.from(body)]);
}

const INPUT = Buffer.concat([
  Buffer.from('{"a":1}\n'),
  frame("one", "\n\0{\n"),
  frame("empty", ""),
  frame("", "no head"),
  Buffer.from("\r\n \n[2]\r\n"),
  frame("two", "x".repeat(300)),
  Buffer.from("last"),
]);
const PIECES = ['{"a":1}', "one: \n\0{\n", "empty: ", ": no head", "[2]", `two: ${"x".repeat(300)}`, "last"];

/** Lines, and frames joined from their parts. */
function split(chunks: readonly Buffer[]): string[] {
  const splitter = new LineSplitter(MAX);
  splitter.acceptFrames();
  const pieces: string[] = [];
  let body = "";
  const take = () => {
    for (let next = splitter.next(); next !== undefined; next = splitter.next()) {
      if (next === "too_long") pieces.push("<too long>");
      else if (Buffer.isBuffer(next)) pieces.push(next.toString());
      else if (next.kind === "broken") pieces.push(`<${next.problem}>`);
      else {
        expect(next.at).toBe(body.length);
        body += next.bytes.toString("latin1");
        if (!next.isLast) continue;
        pieces.push(`${next.head}: ${body}`);
        body = "";
      }
    }
  };
  for (const chunk of chunks) {
    splitter.push(chunk);
    take();
  }
  splitter.end();
  take();
  expect([splitter.waitingBytes, splitter.waitingChunks]).toEqual([0, 0]);
  return pieces;
}

test("lines and binary frames are distinguished however the stream is chunked", () => {
  expect(split([INPUT])).toEqual(PIECES);
  for (let at = 1; at < INPUT.length; at += 1) {
    expect(split([INPUT.subarray(0, at), INPUT.subarray(at)]), `cut at ${at}`).toEqual(PIECES);
  }
  expect(split(Array.from(INPUT, (byte) => Buffer.from([byte])))).toEqual(PIECES);
});

test("a frame over the limit, or truncated by the end, breaks the stream with its reason", () => {
  const over = frame("h", "", MAX + 1);
  expect(split([frame("h", "y".repeat(MAX)), over, Buffer.from("1\n")])).toEqual([
    `h: ${"y".repeat(MAX)}`,
    `<a binary frame of ${MAX + 1} bytes is larger than the limit of ${MAX} bytes>`,
  ]);
  for (const bytes of [1, 6, FRAME_START_BYTES, FRAME_START_BYTES + 1, FRAME_START_BYTES + 3]) {
    const cut = frame("h", "body").subarray(0, bytes);
    expect(split([Buffer.from("1\n"), cut])).toEqual(["1", "<the input ended inside of a binary frame>"]);
  }
});

test("without accepted frames a line that starts with their mark is a line", () => {
  const splitter = new LineSplitter(MAX);
  splitter.push(frame("h", "x\n2\n"));
  expect(splitter.next()?.toString()).toBe(frame("h", "x", 4).toString());
  expect(splitter.next()?.toString()).toBe("2");
});

test("a small part of a body does not keep its chunk in memory", () => {
  const splitter = new LineSplitter(MAX);
  splitter.acceptFrames();
  const parts = [frame("h", "key"), Buffer.alloc(20_000, "z"), Buffer.from("\n")];
  // With its own memory, not from the pool of small buffers.
  const chunk = Buffer.alloc(parts.reduce((sum, { length }) => sum + length, 0));
  Buffer.concat(parts).copy(chunk);
  splitter.push(chunk);
  const part = splitter.next();
  if (part === undefined || Buffer.isBuffer(part) || part === "too_long" || part.kind !== "bytes")
    throw new Error("no part");
  expect(part.bytes.toString()).toBe("key");
  expect(part.bytes.buffer).not.toBe(chunk.buffer);
});

test("a channel that cannot be read any more reports the reason, and can still write", async () => {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const channel = createStdioChannel({ input, output, limits: { maxMessageBytes: MAX } });
  channel.binary?.accept();
  input.write(Buffer.concat([Buffer.from("1\n"), frame("h", "ok"), frame("h", "", 0xffffffff), Buffer.from("2\n")]));
  expect(await nextValue(channel)).toBe(1);
  expect((await nextFrame(channel)).body.toString()).toBe("ok");
  expect(await channel.receive()).toEqual({
    kind: "malformed",
    problem: "a binary frame of 4294967295 bytes is larger than the limit of 1000 bytes",
  });
  expect(await channel.receive()).toBeUndefined();
  expect(await channel.closed).toMatchObject({ kind: "failed", error: { code: "connection_lost" } });
  const written = once(output, "data");
  await channel.send("still");
  expect(String(await written)).toBe('"still"\n');
  await channel.close();
});
