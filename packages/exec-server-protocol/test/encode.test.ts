import { expect, it } from "vitest";
import { MESSAGE_SLAB_BYTES } from "../../exec-server/src/limits.js";
import { CHUNK_SLAB_BYTES } from "../../native/src/limits.js";
import { encodeBodyDelta, encodeBytesResult, encodeProcessOutput } from "../src/encode.js";

const SIZES = [0, 1, 2, 3, 8191, 8192, 3 * 256 * 1024, 3 * 256 * 1024 + 1, 2_000_001];
const NAMES = ["p", "", 'a"\\\n\u0001', "üñ𝒳", "\ud800", "53162-7549955d"];

const bytesOf = (size: number) => Buffer.from(Array.from({ length: size }, (_, index) => (index * 31 + 7) % 256));

it.each(SIZES)("process/output of %i bytes equals the text of JSON.stringify", (size) => {
  const bytes = bytesOf(size);
  for (const processId of NAMES) {
    const params = {
      processId,
      seq: 9_007_199_254_740_991,
      stream: "stderr" as const,
      chunk: bytes.toString("base64"),
    };
    const text = JSON.stringify({ method: "process/output", params });
    expect(encodeProcessOutput(processId, params.seq, "stderr", bytes).toString() === text).toBe(true);
  }
});

it.each(SIZES)("bodyDelta of %i bytes equals the text of JSON.stringify", (size) => {
  const bytes = bytesOf(size);
  for (const requestId of NAMES) {
    for (const error of [null, 'cut "off" ü']) {
      const params = { requestId, seq: 3, deltaBase64: bytes.toString("base64"), done: error !== null, error };
      const text = JSON.stringify({ method: "http/request/bodyDelta", params });
      const delta = { requestId, seq: 3, bytes, done: params.done, error };
      expect(encodeBodyDelta(delta).toString() === text).toBe(true);
    }
  }
});

it("encodes a view into a larger buffer", () => {
  const view = new Uint8Array(new TextEncoder().encode("xxhelloxx").buffer, 2, 5);
  expect(JSON.parse(encodeProcessOutput("p", 1, "pty", view).toString()).params.chunk).toBe("aGVsbG8=");
});

it("encodes a binary response for every kind of id", () => {
  const encode = (id: string | number | bigint) =>
    encodeBytesResult(id, "chunk", Buffer.from("hi"), { eof: true }).toString();
  expect(encode(7)).toBe('{"id":7,"result":{"chunk":"aGk=","eof":true}}');
  expect(encode("ü\n")).toBe('{"id":"ü\\n","result":{"chunk":"aGk=","eof":true}}');
  expect(encode(9223372036854775807n)).toContain('"id":9223372036854775807,');
  expect(encodeBytesResult(1, "dataBase64", Buffer.alloc(0)).toString()).toBe('{"id":1,"result":{"dataBase64":""}}');
});

it("fits the largest chunk of a process with a long id into one message slab", () => {
  const message = encodeProcessOutput("p".repeat(1024), 2 ** 53, "stdout", Buffer.alloc(CHUNK_SLAB_BYTES));
  expect(message.length).toBeLessThanOrEqual(MESSAGE_SLAB_BYTES);
});
