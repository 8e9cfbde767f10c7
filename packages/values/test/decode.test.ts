import { expect, it } from "vitest";
import { decodeText, isText } from "../src/index.js";

const be = (text: string) => Buffer.from(text, "utf16le").swap16();

it.each([
  ["UTF-8", Buffer.from("é😀")],
  ["UTF-8 with a mark", Buffer.from("\ufeffé😀")],
  ["UTF-16 little-endian with its mark", Buffer.from("\ufeffé😀", "utf16le")],
  ["UTF-16 big-endian with its mark", be("\ufeffé😀")],
])("decodes %s", (_, bytes) => {
  expect(decodeText(bytes, { fatal: true })).toBe("é😀");
});

it.each([
  ["Latin-1", Buffer.from("caf\xe9", "latin1")],
  ["half of a surrogate pair in UTF-16", Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("a\ud83d", "utf16le")])],
  ["an odd number of bytes in UTF-16", Buffer.from([0xff, 0xfe, 0x61, 0x00, 0x62])],
  ["UTF-32", Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0])],
])("%s is no text, and never becomes half of a surrogate pair", (_, bytes) => {
  expect(isText(bytes)).toBe(false);
  expect(() => decodeText(bytes, { fatal: true })).toThrow(TypeError);
  expect(decodeText(bytes)).not.toMatch(/\p{Cs}/u);
});
