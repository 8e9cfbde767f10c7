import { expect, test } from "vitest";
import type { ReceivedBytes } from "../../src/channel.js";
import { FRAME_START_BYTES, writeFrameStart } from "../../src/codec/binary-frame.js";
import { FrameTap } from "../../src/websocket/frame-tap.js";

const MAX_BYTES = 100_000;
const [CONTINUATION, TEXT, BINARY, CLOSE, PING] = [0x80, 0x81, 0x82, 0x88, 0x89];
const [FIRST_TEXT, FIRST_BINARY] = [0x01, 0x02];

/** A frame of RFC 6455, not masked. */
function frame(kind: number, payload: Uint8Array | string): Buffer {
  const bytes = Buffer.from(payload);
  if (bytes.length < 126) return Buffer.concat([Buffer.from([kind, bytes.length]), bytes]);
  const header = Buffer.alloc(bytes.length <= 0xffff ? 4 : 10);
  header[0] = kind;
  header[1] = header.length === 4 ? 126 : 127;
  if (header.length === 4) header.writeUInt16BE(bytes.length, 2);
  else header.writeUInt32BE(bytes.length, 6);
  return Buffer.concat([header, bytes]);
}

/** A binary frame of a channel. */
function binary(head: string, body: Uint8Array | string): Buffer {
  const bytes = Buffer.from(body);
  const start = Buffer.alloc(FRAME_START_BYTES + head.length);
  writeFrameStart(start, 0, Buffer.from(head), bytes.length);
  return frame(BINARY, Buffer.concat([start, bytes]));
}

/** What is passed on, and the frames with their bodies put together, in the order of their ends. */
function open(accepts = true) {
  const events: string[] = [];
  const parts: ReceivedBytes[] = [];
  let passed = Buffer.alloc(0);
  let body = "";
  const flush = () => {
    if (passed.length > 0) events.push(passed.toString("hex"));
    passed = Buffer.alloc(0);
  };
  const tap = new FrameTap(MAX_BYTES, {
    accepts: () => accepts,
    pass: (bytes) => {
      passed = Buffer.concat([passed, bytes]);
    },
    deliver: (part) => {
      flush();
      parts.push(part);
      expect(part.at).toBe(body.length);
      body += part.bytes.toString("latin1");
      if (!part.isLast) return;
      events.push(`${part.head}: ${body}`);
      body = "";
    },
  });
  const end = () => {
    flush();
    return events;
  };
  return { tap, parts, end };
}

/** What comes of the bytes, in one piece, cut in two at every place, and one by one. */
function runAll(bytes: Buffer, accepts = true): string[] {
  const run = (pieces: Buffer[]) => {
    const { tap, end } = open(accepts);
    for (const piece of pieces) tap.push(piece);
    return end();
  };
  const whole = run([bytes]);
  for (let cut = 1; cut < bytes.length; cut += bytes.length > 2_000 ? 997 : 1) {
    expect(run([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(whole);
  }
  if (bytes.length <= 2_000) expect(run(Array.from(bytes, (byte) => Buffer.from([byte])))).toEqual(whole);
  return whole;
}

test("takes binary frames out, in order with what is passed on", () => {
  const bytes = [
    frame(TEXT, "1"),
    binary("a", "one"),
    frame(PING, "p"),
    frame(TEXT, "{}"),
    binary("", ""),
    binary("b", "two"),
  ];
  const between = Buffer.concat([frame(PING, "p"), frame(TEXT, "{}")]).toString("hex");
  expect(runAll(Buffer.concat(bytes))).toEqual([frame(TEXT, "1").toString("hex"), "a: one", between, ": ", "b: two"]);
});

test.each([125, 126, 300, 65_535, 65_536])("takes a frame with a body of %d bytes, without copying it", (size) => {
  const body = "x".repeat(size);
  // In memory of its own, not in Node's pool.
  const bytes = Buffer.from(Uint8Array.from(binary("head", body)).buffer);
  expect(runAll(bytes)).toEqual([`head: ${body}`]);
  const { tap, parts } = open();
  tap.push(bytes);
  expect(parts.map((part) => part.bytes.buffer === bytes.buffer)).toEqual([true]);
});

const mine = binary("head", "body");
const masked = Buffer.concat([Buffer.from([BINARY, 0x80 | 9, 0, 0, 0, 0]), mine.subarray(2, 11)]);
test.each([
  ["a text", frame(TEXT, "\0 is no text")],
  ["a message of two frames", Buffer.concat([frame(FIRST_BINARY, mine.subarray(2)), frame(CONTINUATION, "x")])],
  ["a binary frame inside of such a message", Buffer.concat([frame(FIRST_TEXT, "x"), mine, frame(CONTINUATION, "x")])],
  ["a masked frame", masked],
  ["a binary message that is short", frame(BINARY, "\0")],
  ["one that begins otherwise", frame(BINARY, "[1, 2, 3]")],
  ["one whose lengths do not agree", frame(BINARY, Buffer.concat([mine.subarray(2), Buffer.from("x")]))],
  ["one over the limit", binary("h", Buffer.alloc(MAX_BYTES))],
  ["a reserved bit", Buffer.concat([Buffer.from([BINARY | 0x40]), mine.subarray(1)])],
])("leaves %s to ws", (_name, bytes) => {
  expect(runAll(Buffer.concat([bytes, mine]))).toEqual([bytes.toString("hex"), "head: body"]);
});

test("leaves everything to ws until frames are accepted", () => {
  const bytes = Buffer.concat([mine, frame(TEXT, "1")]);
  expect(runAll(bytes, false)).toEqual([bytes.toString("hex")]);
});

test("drops what comes after a close frame, and after its end", () => {
  const close = frame(CLOSE, Buffer.from([0x03, 0xe8]));
  expect(runAll(Buffer.concat([mine, close, mine, frame(TEXT, "1")]))).toEqual(["head: body", close.toString("hex")]);
  const { tap, end } = open();
  tap.end();
  tap.push(mine);
  expect(end()).toEqual([]);
});
