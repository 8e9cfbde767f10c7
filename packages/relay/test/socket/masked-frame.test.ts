import { expect, it } from "vitest";
import { MaskedFrames } from "../../src/socket/masked-frame.js";
import { createRandom } from "../random.js";

/** The payload of a masked binary message, after RFC 6455, 5.2; one byte at a time. */
function readPayload(frame: Buffer): Buffer {
  expect(frame[0]).toBe(0x82);
  const code = frame[1]! - 0x80;
  const header = code === 127 ? 10 : code === 126 ? 4 : 2;
  const length = code === 127 ? Number(frame.readBigUInt64BE(2)) : code === 126 ? frame.readUInt16BE(2) : code;
  const mask = frame.subarray(header, header + 4);
  const masked = frame.subarray(header + 4);
  expect(masked.length).toBe(length);
  return Buffer.from(masked.map((byte, at) => byte ^ mask[at % 4]!));
}

it("a message in parts is the same bytes, however long they are and wherever they lie in memory", () => {
  const random = createRandom(1);
  const upTo = (count: number) => Math.floor(random() * count);
  const frames = new MaskedFrames();
  for (const total of [1, 2, 3, 4, 5, 125, 126, 127, 8191, 8192, 8193, 8194, 8195, 65_535, 65_536, 65_537]) {
    for (let round = 0; round < 6; round += 1) {
      const memory = Buffer.allocUnsafeSlow(total + 8);
      for (let at = 0; at < memory.length; at += 1) memory[at] = upTo(256);
      const message = memory.subarray(upTo(8)).subarray(0, total);
      const expected = Buffer.from(message);
      const [first, second] = [upTo(total), upTo(total)].sort((a, b) => a - b) as [number, number];
      const parts = [message.subarray(0, first), message.subarray(first, second), message.subarray(second)];
      expect(readPayload(Buffer.concat(frames.encode(parts))).equals(expected), `${total}, ${round}`).toBe(true);
    }
  }
});

it("each message has a mask of its own", () => {
  const frames = new MaskedFrames();
  const masks = Array.from({ length: 3_000 }, () =>
    Buffer.concat(frames.encode([Buffer.alloc(1)])).toString("hex", 2, 6),
  );
  // Of 4 random bytes two are the same now and then.
  expect(new Set(masks).size).toBeGreaterThan(2_990);
});
