import { describe, expect, it } from "vitest";
import { getContinuation, getIncompleteTail } from "../../src/output/utf8.js";

describe("the end of UTF-8 bytes", () => {
  it.each([
    ["", 0],
    ["61", 0],
    ["c3", 1],
    ["c3a9", 0],
    ["e2", 1],
    ["e282", 2],
    ["e282ac", 0],
    ["f0", 1],
    ["f09f", 2],
    ["f09f98", 3],
    ["f09f9880", 0],
    ["61f09f98", 3],
    ["80", 0], // belongs to nothing
    ["808080", 0],
    ["c0", 0], // begins no character
    ["f5", 0],
    ["ff", 0],
    ["e2e2", 1],
    ["c3a9c3", 1],
  ])("%s has %d bytes of an incomplete character", (hex, expected) => {
    expect(getIncompleteTail(Buffer.from(hex, "hex"))).toBe(expected);
  });

  it("agrees with the decoder wherever a text is cut", () => {
    const bytes = Buffer.from("aé€😀z");
    for (let cut = 0; cut <= bytes.length; cut++) {
      const head = bytes.subarray(0, cut);
      const whole = head.subarray(0, head.length - getIncompleteTail(head)).toString();
      expect(whole).not.toContain("\ufffd");
      expect("aé€😀z".startsWith(whole)).toBe(true);
    }
  });

  it.each([
    ["61", 0],
    ["9880", 2],
    ["808080", 3],
    ["80808080", 3],
    ["ac61", 1],
  ])("%s begins with %d bytes of a character before", (hex, expected) => {
    expect(getContinuation(Buffer.from(hex, "hex"))).toBe(expected);
  });
});
