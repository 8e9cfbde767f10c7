import { expect, test } from "vitest";
import { LineSplitter } from "../../src/stdio/line-splitter.js";

const MAX = 12;

/** Lines as text; a line over the limit as its marker. */
function split(splitter: LineSplitter, chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const take = () => {
    for (let line = splitter.next(); line !== undefined; line = splitter.next()) {
      lines.push(line === "too_long" ? "<too long>" : line.toString("latin1"));
    }
  };
  for (const chunk of chunks) {
    splitter.push(chunk);
    take();
  }
  splitter.end();
  take();
  return lines;
}

const CASES: readonly [string, string[]][] = [
  ["", []],
  ["\n\n \t\r\n\r\n", []],
  ["a\nb\r\nc\n", ["a", "b", "c"]],
  ["a\rb\n\ra\n", ["a\rb", "\ra"]],
  ["last line", ["last line"]],
  ["last line\r", ["last line"]],
  ["123456789012\n", ["123456789012"]],
  ["123456789012\r\n", ["123456789012"]],
  ["1234567890123\nnext\n", ["<too long>", "next"]],
  ["1234567890123\r\nnext\n", ["<too long>", "next"]],
  ["12345678901234567890123456789\nnext", ["<too long>", "next"]],
  ["x\n1234567890123", ["x", "<too long>"]],
  ["12345678901234567890\n12345678901234567890\n\n\nok\n", ["<too long>", "<too long>", "ok"]],
  [" {} \n", [" {} "]],
];

test.each(CASES)("splits %j the same however it is chunked", (input, lines) => {
  const bytes = Buffer.from(input, "latin1");
  expect(split(new LineSplitter(MAX), [bytes])).toEqual(lines);
  for (let first = 0; first <= bytes.length; first++) {
    for (let second = first; second <= bytes.length; second++) {
      const chunks = [bytes.subarray(0, first), bytes.subarray(first, second), bytes.subarray(second)];
      expect(split(new LineSplitter(MAX), chunks)).toEqual(lines);
    }
  }
  const single = Array.from(bytes, (byte) => Buffer.from([byte]));
  expect(split(new LineSplitter(MAX), single)).toEqual(lines);
});

test("reports a line over the limit before its end, and buffers none of it", () => {
  const splitter = new LineSplitter(MAX);
  splitter.push(Buffer.alloc(100, "x"));
  expect(splitter.next()).toBe("too_long");
  expect(splitter.next()).toBeUndefined();
  expect(splitter.waitingBytes).toBe(0);
  splitter.push(Buffer.from("still the same line\nshort\n"));
  expect(splitter.next()?.toString()).toBe("short");
});

test("does not copy a line that lies in one chunk", () => {
  const splitter = new LineSplitter(MAX);
  const chunk = Buffer.from("one\ntwo\n");
  splitter.push(chunk);
  const line = splitter.next();
  expect(Buffer.isBuffer(line) && line.buffer === chunk.buffer && line.byteOffset === chunk.byteOffset).toBe(true);
});

test("counts waiting bytes and chunks", () => {
  const splitter = new LineSplitter(MAX);
  splitter.push(Buffer.from("one\ntwo\npar"));
  splitter.push(Buffer.from("tial\n"));
  expect([splitter.waitingBytes, splitter.waitingChunks]).toEqual([16, 2]);
  expect(splitter.next()?.toString()).toBe("one");
  expect([splitter.waitingBytes, splitter.waitingChunks]).toEqual([12, 1]);
  splitter.next();
  expect(splitter.next()?.toString()).toBe("partial");
  expect([splitter.waitingBytes, splitter.waitingChunks]).toEqual([0, 0]);
});

test("reads a long line in many small pieces in linear time; quadratic time would time out", () => {
  const size = 32 * 1024 * 1024;
  const splitter = new LineSplitter(size);
  const piece = Buffer.alloc(256, "y");
  for (let at = 0; at < size; at += piece.length) {
    splitter.push(piece);
    if (splitter.next() !== undefined) throw new Error("a line before its end");
  }
  splitter.push(Buffer.from("\n"));
  expect(splitter.next()).toHaveLength(size);
});
