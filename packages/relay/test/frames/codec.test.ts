import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { describe, expect, it, test } from "vitest";
import { StreamFrames } from "../../src/frames/stream-frames.js";
import {
  decodeFrame,
  encodeFrame,
  type FrameBody,
  MAX_STREAM_ID_BYTES,
  type RelayFrame,
  readFrameHead,
} from "../../src/index.js";
import { fromHex, readSessions } from "../corpus.js";

const BODIES: FrameBody[] = [
  { kind: "data", seq: 0, payload: Buffer.from("first") },
  { kind: "data", seq: 0xffff_ffff, payload: Buffer.alloc(61_456, 7) },
  { kind: "data", seq: 3, payload: Buffer.alloc(0) },
  { kind: "handshake", payload: Buffer.alloc(3568, 1) },
  { kind: "reset", reason: "noise_relay_protocol_error" },
  { kind: "reset", reason: "" },
  { kind: "resume", nextSeq: 0 },
  { kind: "resume", nextSeq: 300 },
  { kind: "ack", counter: 0, payload: Buffer.alloc(0) },
  { kind: "ack", counter: 7, payload: Buffer.from("sealed") },
  { kind: "heartbeat" },
];

/** A frame from fields as they are given, valid or not. */
function frameOf(...fields: [number: number, value: number | string | Uint8Array][]): Buffer {
  const writer = new BinaryWriter();
  for (const [number, value] of fields) {
    if (typeof value === "number") writer.tag(number, WireType.Varint).uint32(value);
    else if (typeof value === "string") writer.tag(number, WireType.LengthDelimited).string(value);
    else writer.tag(number, WireType.LengthDelimited).bytes(value);
  }
  return Buffer.from(writer.finish());
}

const reset = frameOf([1, "gone"]);
const data = (...more: [number, number][]) => frameOf([1, 4], ...more, [4, Buffer.from("x")]);

describe("frames of Codex 0.169.0", () => {
  it.each(readSessions())("$name: the same bytes both ways", ({ streamId, frames }) => {
    for (const { type, raw, seq = 0, payload = "" } of frames) {
      const decoded = decodeFrame(fromHex(raw));
      expect(decoded).toMatchObject({ ok: true, frame: { streamId, body: { kind: type } } });
      if (!decoded.ok) continue;
      const { body } = decoded.frame;
      if (body.kind === "data") expect(body.seq).toBe(seq);
      if (body.kind === "data" || body.kind === "handshake")
        expect(Buffer.from(body.payload).toString("hex")).toBe(payload);
      expect(encodeFrame(decoded.frame).toString("hex")).toBe(raw);
      expect(readFrameHead(fromHex(raw))).toEqual({ streamId, kind: type });
    }
  });
});

test.each(BODIES)("a frame of kind $kind comes back", (body) => {
  for (const streamId of ["a", "stream é 🙂", " x", "s".repeat(MAX_STREAM_ID_BYTES)]) {
    const bytes = encodeFrame({ streamId, body });
    const decoded = decodeFrame(bytes);
    expect(decoded.ok && withArray(decoded.frame)).toEqual(withArray({ streamId, body }));
    expect(readFrameHead(bytes)).toEqual({ streamId, kind: body.kind });
  }
});

/** With a payload that compares by its bytes, whatever class it has. */
const withArray = ({ streamId, body }: RelayFrame) => ({
  streamId,
  body: "payload" in body ? { ...body, payload: Uint8Array.from(body.payload) } : body,
});

test.each([
  ["no bytes", frameOf(), /version is 0/],
  ["version 0", frameOf([2, "s"], [8, reset]), /version is 0, not 1/],
  ["version 2", frameOf([1, 2], [2, "s"], [8, reset]), /version is 2, not 1/],
  ["no stream id", frameOf([1, 1], [8, reset]), /no stream_id/],
  ["an empty stream id", frameOf([1, 1], [2, ""], [8, reset]), /no stream_id/],
  [
    "a long stream id",
    frameOf([1, 1], [2, "s".repeat(MAX_STREAM_ID_BYTES + 1)], [8, reset]),
    /513 bytes, more than 512/,
  ],
  ["a stream id that is not UTF-8", frameOf([1, 1], [2, fromHex("ff")], [8, reset]), /not UTF-8/],
  ["two stream ids", frameOf([1, 1], [2, "s"], [2, "t"], [8, reset]), /stream_id comes twice/],
  ["two versions", frameOf([1, 1], [1, 1], [2, "s"], [8, reset]), /version comes twice/],
  ["two bodies", frameOf([1, 1], [2, "s"], [8, reset], [5, data([3, 1])]), /body comes twice/],
  ["no body", frameOf([1, 1], [2, "s"], [3, 1]), /no body/],
  ["a number in place of a body", frameOf([1, 1], [2, "s"], [8, 1]), /no length/],
  ["text in place of the version", frameOf([1, "1"], [2, "s"], [8, reset]), /not a varint/],
  ["a length beyond the end", Buffer.concat([frameOf([1, 1], [2, "s"]), fromHex("427f")]), /not a protobuf/],
  ["a cut varint", Buffer.concat([frameOf([1, 1], [2, "s"], [8, reset]), fromHex("80")]), /not a protobuf/],
])("%s is no frame", (_, bytes, problem) => {
  const decoded = decodeFrame(bytes);
  expect(decoded.ok ? "a frame" : decoded.problem).toMatch(problem);
  expect(readFrameHead(bytes)).toBeUndefined();
});

test.each([
  ["segment 1", data([2, 1], [3, 2]), /segment 1 of 2/],
  ["no segment count", data(), /segment 0 of 0/],
  ["two payloads", Buffer.concat([data([3, 1]), frameOf([4, "y"])]), /comes twice/],
  ["a cut payload", data([3, 1]).subarray(0, -1), /not a protobuf/],
])("data with %s is no frame", (_, body, problem) => {
  const decoded = decodeFrame(frameOf([1, 1], [2, "s"], [5, body]));
  expect(decoded.ok ? "a frame" : decoded.problem).toMatch(problem);
});

test("acknowledgements and unknown fields are skipped", () => {
  const bytes = frameOf([3, 9], [4, 1], [99, "later"], [1, 1], [2, "s"], [8, Buffer.concat([reset, frameOf([7, 7])])]);
  expect(decodeFrame(bytes)).toEqual({ ok: true, frame: { streamId: "s", body: { kind: "reset", reason: "gone" } } });
});

test.each(["", "s".repeat(MAX_STREAM_ID_BYTES + 1)])("a stream id of %j is not sent", (streamId) => {
  expect(() => encodeFrame({ streamId, body: { kind: "heartbeat" } })).toThrow(/1 to 512 bytes/);
});

test("numbered frames of a stream are the same bytes", () => {
  const numbers = [0, 1, 127, 128, 16_383, 16_384, 2 ** 21, 2 ** 28, 2 ** 31, 0xffff_ffff];
  for (const streamId of ["a", "stream é 🙂", "s".repeat(MAX_STREAM_ID_BYTES)]) {
    const frames = new StreamFrames(streamId);
    for (const number of numbers) {
      for (const length of [1, 16, 100, 127, 128, 16_383, 16_384, 61_456]) {
        const payload = Buffer.alloc(length, 7);
        const data = Buffer.concat([frames.startData(number, length), payload]);
        const ack = Buffer.concat([frames.startAck(number, length), payload]);
        expect(data.equals(encodeFrame({ streamId, body: { kind: "data", seq: number, payload } }))).toBe(true);
        expect(ack.equals(encodeFrame({ streamId, body: { kind: "ack", counter: number, payload } }))).toBe(true);
      }
    }
  }
});
