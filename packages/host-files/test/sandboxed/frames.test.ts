import { expect, it } from "vitest";
import { packParams, packResult, unpackParams, unpackResult } from "../../src/sandboxed/calls.js";
import { encodeFrame, type Frame, FrameReader } from "../../src/sandboxed/frames.js";
import { MAX_HEADER_BYTES } from "../../src/sandboxed/limits.js";

const bytesOf = (header: unknown, body?: Buffer) => Buffer.concat(encodeFrame(header, body));

it.each([1, 2, 3, 7, 8, 9, 64, 10_000])("puts frames together from pieces of %i bytes", (size) => {
  const sent: Frame[] = [
    { header: { id: 1 }, body: Buffer.alloc(0) },
    { header: "ä", body: Buffer.from("body") },
    { header: null, body: Buffer.alloc(3_000, 7) },
    { header: [], body: Buffer.alloc(0) },
  ];
  const wire = Buffer.concat(sent.map(({ header, body }) => bytesOf(header, body)));
  const reader = new FrameReader(3_000);
  const got: Frame[] = [];
  for (let at = 0; at < wire.length; at += size) got.push(...reader.push(wire.subarray(at, at + size)));
  expect(got).toEqual(sent);
});

it("refuses a body and a header over their limits", () => {
  expect(() => [...new FrameReader(10).push(bytesOf(1, Buffer.alloc(11)))]).toThrow("1 and 11 bytes");
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32LE(MAX_HEADER_BYTES + 1, 0);
  expect(() => [...new FrameReader(10).push(lengths)]).toThrow(`${MAX_HEADER_BYTES + 1} and 0 bytes`);
});

it.each([
  ["writeFile", { path: "/a", dataBase64: Buffer.from([0, 255]), followSymlinks: true }],
  ["writeBlock", { handleId: "h", offset: 3, chunk: Buffer.from("x") }],
  ["readFile", { path: Buffer.from("/a\xff", "latin1"), followSymlinks: true }],
  ["copy", { sourcePath: Buffer.from("/\xfe", "latin1"), destinationPath: "/b", recursive: true }],
] as const)("brings the params of %s over", (method, params) => {
  const { value, bytes } = packParams(method, { ...params, sandbox: { never: "sent" } });
  expect(JSON.stringify(value)).not.toContain("never");
  const [frame] = [...new FrameReader(100).push(Buffer.concat(encodeFrame(value, bytes)))];
  expect(unpackParams(method, { value: frame!.header, bytes: frame!.body })).toEqual(params);
});

it.each([
  ["readFile", Buffer.from("text")],
  ["readBlock", { bytes: Buffer.from("text"), eof: true }],
  ["walk", { entries: [], errors: [], truncated: false }],
  ["remove", undefined],
] as const)("brings the result of %s over", (method, result) => {
  const { value, bytes } = packResult(method, result);
  const [frame] = [...new FrameReader(100).push(Buffer.concat(encodeFrame(value, bytes)))];
  expect(unpackResult(method, { value: frame!.header, bytes: frame!.body })).toEqual(result);
});
