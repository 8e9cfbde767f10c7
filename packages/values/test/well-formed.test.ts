import { describe, expect, it } from "vitest";
import { cutEnd, cutStart, stringifyWellFormed, toWellFormed } from "../src/index.js";

const HIGH = "\ud83d";
const LOW = "\ude00";

describe("half of a surrogate pair", () => {
  it.each([
    ["in a string", [`a${HIGH}b`, `${LOW}`], ["a\ufffdb", "\ufffd"]],
    ["in a key", { [`k${HIGH}`]: { [LOW]: 1 } }, { "k\ufffd": { "\ufffd": 1 } }],
    ["next to a pair", `${HIGH}😀${LOW}`, "\ufffd😀\ufffd"],
  ])("becomes U+FFFD %s", (_, value, healed) => {
    expect(JSON.parse(stringifyWellFormed(value))).toEqual(healed);
    expect(stringifyWellFormed(value)).not.toMatch(/\\ud|\p{Cs}/u);
    expect(toWellFormed(value)).toEqual(healed);
  });

  it.each([
    ["text that only looks like one", ["\\ud83d", "\\\\ud83d", "c:\\ud8ff"]],
    ["pairs", { "😀": "\\😀\n" }],
    ["values that are no text", { a: null, b: 1.5, c: [true, {}] }],
  ])("is not seen in %s", (_, value) => {
    expect(stringifyWellFormed(value)).toBe(JSON.stringify(value));
    expect(toWellFormed(value)).toBe(value);
  });

  it("is not made by a cut", () => {
    expect(cutEnd("ab😀c", 3)).toBe("ab");
    expect(cutEnd("ab😀c", 4)).toBe("ab😀");
    expect(cutEnd("ab😀c", 9)).toBe("ab😀c");
    expect(cutStart("a😀bc", 3)).toBe("bc");
    expect(cutStart("a😀bc", 4)).toBe("😀bc");
    expect(cutStart("abc", 0)).toBe("");
    expect(cutEnd("😀", 0)).toBe("");
  });
});

it("leaves what is no JSON alone", () => {
  const bytes = new Uint8Array([1]);
  expect(toWellFormed({ bytes }).bytes).toBe(bytes);
  expect(stringifyWellFormed(undefined)).toBe(undefined);
});
