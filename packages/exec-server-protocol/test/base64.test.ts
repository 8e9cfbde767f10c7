import { expect, it } from "vitest";
import { decodeBase64 } from "../src/base64.js";

it.each([0, 1, 2, 3, 4, 255, 65_537])("gives back %i bytes", (size) => {
  const bytes = Buffer.from(Array.from({ length: size }, (_, index) => (index * 7) % 256));
  expect(decodeBase64(bytes.toString("base64"))).toEqual({ kind: "ok", bytes });
});

it.each([
  ["***", "Invalid symbol 42, offset 0."],
  ["QQ", "Invalid padding"],
  ["QQ=", "Invalid padding"],
  ["QQQ", "Invalid padding"],
  ["aGVsbG8", "Invalid padding"],
  ["Q", "Invalid input length: 1"],
  ["Q===", "Invalid symbol 61, offset 1."],
  ["QQ===", "Invalid symbol 61, offset 2."],
  ["QQ==QQ==", "Invalid symbol 61, offset 2."],
  ["=QQQ", "Invalid symbol 61, offset 0."],
  ["====", "Invalid symbol 61, offset 0."],
  ["QQQQ=", "Invalid symbol 61, offset 4."],
  ["QR==", "Invalid last symbol 82, offset 1."],
  ["QQF=", "Invalid last symbol 70, offset 2."],
  ["Q Q=", "Invalid symbol 32, offset 1."],
  ["QUJD\n", "Invalid symbol 10, offset 4."],
  ["____", "Invalid symbol 95, offset 0."],
  ["QUJ-", "Invalid symbol 45, offset 3."],
  ["Qüüü", "Invalid symbol 195, offset 1."],
  ["QUJ\u0141", "Invalid symbol 197, offset 3."],
  ["QQ=\u0000", "Invalid symbol 61, offset 2."],
])("refuses %j", (text, problem) => {
  expect(decodeBase64(text)).toEqual({ kind: "invalid", problem });
});
