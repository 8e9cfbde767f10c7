import { encodeOutputHead, type OutputHead } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { BinaryOutput } from "../../src/connection/binary-output.js";

const OUTPUT: OutputHead = { requestId: "r", processId: 1000, seq: 3, offset: 100, stream: "pty" };
const newHead = (): Buffer => Buffer.from(encodeOutputHead(OUTPUT)!);

/** The pieces produced from a body split at these offsets. */
function read(body: Buffer, cuts: readonly number[]): { offset: number; bytes: Buffer; isContinued: boolean }[] {
  const output = new BinaryOutput();
  const head = newHead();
  const ends = [...cuts, body.length];
  return ends.flatMap((end, index) => {
    const at = index === 0 ? 0 : ends[index - 1]!;
    const pieces = output.read({ kind: "bytes", head, at, bytes: body.subarray(at, end), isLast: end === body.length });
    if (typeof pieces === "string") throw new Error(pieces);
    return pieces;
  });
}

describe("binary output", () => {
  it("is passed on completely, in order, and without split characters, wherever it was split", () => {
    const body = Buffer.from("aé漢😀zé漢😀");
    for (let first = 1; first < body.length - 1; first += 1) {
      for (let second = first + 1; second < body.length; second += 1) {
        const pieces = read(body, [first, second]);
        let expected = OUTPUT.offset;
        for (const [index, { offset, bytes, isContinued }] of pieces.entries()) {
          expect(offset).toBe(expected);
          expected += bytes.length;
          expect(isContinued).toBe(index > 0);
          expect(bytes.toString()).not.toContain("\ufffd");
        }
        expect(Buffer.concat(pieces.map(({ bytes }) => bytes)).equals(body)).toBe(true);
      }
    }
  });

  it("that is not text is passed on completely, in parts of single bytes", () => {
    const body = Buffer.from([0xff, 0xf0, 0x80, 0x80, 0x80, 0x80, 0x80, 0xe1, 0xc3, 0x00, 0xf4]);
    const cuts = Array.from({ length: body.length - 1 }, (_, index) => index + 1);
    expect(Buffer.concat(read(body, cuts).map(({ bytes }) => bytes)).equals(body)).toBe(true);
  });

  it("with an unreadable head is reported once, and the next frame is read again", () => {
    const output = new BinaryOutput();
    const bad = Buffer.from([9, 9, 9]);
    expect(output.read({ kind: "bytes", head: bad, at: 0, bytes: Buffer.from("x"), isLast: false })).toMatch(/kind 9/);
    expect(output.read({ kind: "bytes", head: bad, at: 1, bytes: Buffer.from("y"), isLast: true })).toEqual([]);
    const pieces = output.read({ kind: "bytes", head: newHead(), at: 0, bytes: Buffer.from("z"), isLast: true });
    expect(pieces).toEqual([{ ...OUTPUT, bytes: Buffer.from("z"), isContinued: false }]);
  });
});
