import { createHash as createNodeHash } from "node:crypto";
import { expect, it } from "vitest";
import { createHash, randomBytes, randomFillSync, sha1 } from "../src/websocket-crypto.js";

it("SHA-1 is that of node:crypto, for messages of all lengths around a block", () => {
  for (let length = 0; length < 200; length += 1) {
    const message = Buffer.alloc(length);
    for (let at = 0; at < length; at += 1) message[at] = (at * 73 + length) & 0xff;
    expect(sha1(message).toString("hex")).toBe(createNodeHash("sha1").update(message).digest("hex"));
  }
});

it("answers the key of RFC 6455, 1.3", () => {
  const text = "dGhlIHNhbXBsZSBub25jZQ==258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
  expect(createHash("sha1").update(text).digest("base64")).toBe("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
});

it("leaves other hashes to node:crypto", () => {
  const digest = (hash: ReturnType<typeof createHash>) => hash.update("a").digest("base64");
  expect(digest(createHash("sha256"))).toBe(digest(createNodeHash("sha256")));
});

it("makes random bytes, and fills a part of a buffer with some", () => {
  expect(randomBytes(16).equals(randomBytes(16))).toBe(false);
  const buffer = randomFillSync(Buffer.alloc(64), 16, 32);
  const parts = [buffer.subarray(0, 16), buffer.subarray(16, 48), buffer.subarray(48)];
  expect(parts.map((part) => part.every((byte) => byte === 0))).toEqual([true, false, true]);
});
