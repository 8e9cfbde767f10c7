import { quoteWords, visible, visibleLine, visibleText } from "@codex/policy/display";
import { describe, expect, it } from "vitest";

describe("text on which a person decides", () => {
  it.each([
    ["plain ASCII, Grüße, 日本語, 😀", "plain ASCII, Grüße, 日本語, 😀"],
    ["a\u001b[2Jb", "a\\u001b[2Jb"],
    ["\u202egnp", "\\u202egnp"],
    ["a\u200bb\u2800\u3164\ufe0f", "a\\u200bb\\u2800\\u3164\\ufe0f"],
    ["a\u00a0b\u2003", "a\\u00a0b\\u2003"],
    ["\u{13441}\u{e0041}", "\\u{13441}\\u{e0041}"],
    ["\ud800", "\\ud800"],
    ["\ue000", "\\ue000"],
    ["two\nlines\tand a tab", "two\nlines\tand a tab"],
    ["two\r\nlines", "two\\u000d\nlines"],
  ])("%j shows what cannot be seen", (text, expected) => {
    expect(visible(text)).toBe(expected);
  });

  it("stays on its line where it has one", () => {
    expect(visibleLine("a\nreason: b\t\u2028c")).toBe("a\\u000areason: b\\u0009\\u2028c");
  });

  it("keeps four marks on a letter, and shows those above", () => {
    expect(visible(`a${"\u0301".repeat(6)}`)).toBe(`a${"\u0301".repeat(4)}\\u0301\\u0301`);
  });

  it("is quoted as words of a shell", () => {
    expect(quoteWords(["rm", "-rf", "a b", "it's", "", "\u200b"])).toBe("rm -rf 'a b' 'it'\\''s' '' '\\u200b'");
  });
});

it("keeps the spaces and joiners of languages in text to read", () => {
  expect(visibleText("a\u00a0b\r\nc\u0007\u2028")).toBe("a\u00a0b\nc\\u0007\\u2028");
});
