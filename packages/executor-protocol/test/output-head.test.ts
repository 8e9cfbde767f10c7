import { decodeOutputHead, encodeOutputHead, type OutputHead } from "@codex/executor-protocol";
import { expect, test } from "vitest";

const OUTPUT: OutputHead = { requestId: "r-17", processId: 1000, seq: 2, offset: 2 ** 40, stream: "stderr" };

test("the head of live output is these bytes", () => {
  expect(Buffer.from(encodeOutputHead(OUTPUT)!).toString("hex")).toBe(
    ["01", "01", "00000000000003e8", "0000000000000002", "0000010000000000", "722d3137"].join(""),
  );
});

test.each<Partial<OutputHead>>([
  {},
  { stream: "pty", processId: -1 },
  { stream: "stdout", seq: 1, offset: 0 },
  { offset: Number.MAX_SAFE_INTEGER, processId: Number.MIN_SAFE_INTEGER, requestId: "r".repeat(1024) },
])("the head comes back as it was: %j", (more) => {
  const output = { ...OUTPUT, ...more };
  expect(decodeOutputHead(encodeOutputHead(output)!)).toEqual(output);
});

test("a request id that a head cannot hold is left to JSON", () => {
  expect(encodeOutputHead({ ...OUTPUT, requestId: "r".repeat(1025) })).toBeUndefined();
  expect(encodeOutputHead({ ...OUTPUT, requestId: "é" })).toBeUndefined();
});

test("any other bytes are an error that says what is wrong", () => {
  const head = (change: (bytes: Buffer) => Buffer | undefined) => {
    const bytes = Buffer.from(encodeOutputHead(OUTPUT)!);
    return decodeOutputHead(change(bytes) ?? bytes);
  };
  expect(head(() => Buffer.alloc(0))).toBe("binary frame of unknown kind (none)");
  expect(head((bytes) => void bytes.fill(2, 0, 1))).toBe("binary frame of unknown kind 2");
  expect(head((bytes) => void bytes.fill(3, 1, 2))).toBe("binary frame of unknown stream 3");
  expect(head((bytes) => bytes.subarray(0, 26))).toMatch(/26 bytes, expected 27 to 1050/);
  expect(head((bytes) => Buffer.concat([bytes, Buffer.alloc(1024)]))).toMatch(/1054 bytes, expected 27 to 1050/);
  expect(head((bytes) => void bytes.fill(0, 10, 18))).toMatch(/seq 0/);
  expect(head((bytes) => void bytes.fill(0x7f, 18, 26))).toMatch(/offset \d+, beyond 2\^53/);
  for (let length = 0; length < 64; length += 1) {
    const decoded = decodeOutputHead(Buffer.alloc(length, 0x01));
    expect(typeof decoded === "string" || decoded.requestId.length > 0).toBe(true);
  }
});
