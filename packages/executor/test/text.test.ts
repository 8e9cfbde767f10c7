import { describe, expect, it } from "vitest";
import { quoteWords } from "../src/text.js";

describe("quoteWords", () => {
  it.each([
    [["ls", "-la", "a/b.c"], "ls -la a/b.c"],
    [["sh", "-c", "echo 'a b'"], "sh -c 'echo '\\''a b'\\'''"],
    [["echo", "", "$x", "a\nb"], "echo '' '$x' 'a b'"],
    [["printf", "ééé"], "printf 'é…"],
  ])("%j is what a shell would read", (words, shown) => {
    expect(quoteWords(words, shown.endsWith("…") ? 11 : 100)).toBe(shown);
  });
});
