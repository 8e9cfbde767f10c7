import { applyChunks, type Chunk, MAX_SEARCH_STEPS, PatchError, parsePatch } from "@codex/apply-patch";
import { describe, expect, it } from "vitest";

function chunksOf(lines: readonly string[]): readonly Chunk[] {
  const parsed = parsePatch(`*** Begin Patch\n*** Update File: a\n${lines.join("\n")}\n*** End Patch`);
  const operation = parsed.ok ? parsed.patch.operations[0] : undefined;
  if (operation?.kind !== "update") throw new Error(JSON.stringify(parsed));
  return operation.chunks;
}

const apply = (content: string, lines: readonly string[]) =>
  Buffer.from(applyChunks(Buffer.from(content), chunksOf(lines))).toString();

function problemOf(content: string | Uint8Array, lines: readonly string[]): string {
  try {
    applyChunks(Buffer.from(content), chunksOf(lines));
  } catch (error) {
    if (error instanceof PatchError) return error.problem.message;
    throw error;
  }
  return "applied";
}

/** Results of Codex 0.169.0, unless the name says what is better here. */
describe.each<[name: string, before: string, chunk: string[], after: string]>([
  ["an empty line is empty context", "one\n\ntwo\n", ["@@", " one", "", "-two", "+TWO"], "one\n\nTWO\n"],
  ["an empty line between chunks may be missing", "x\nz\n", ["@@", "-x", "+y", "", "@@", "-z", "+Z"], "y\nZ\n"],
  ["a missing empty context before an added line is added", "x\nz\n", ["@@", " x", " ", "+y"], "x\n\ny\nz\n"],
  ["blanks of an empty line do not matter", "x\n  \nz\n", ["@@", " x", "", " z", "+y"], "x\n  \nz\ny\n"],
  ["a removed empty last line may be missing", "x\nz\n", ["@@", "-x", "-", "+y", "+"], "y\nz\n"],
  ["better: what is only added, and an empty line, goes to the end", "x\nz\n", ["@@", "+y", ""], "x\nz\ny\n"],
  ["missing empty context alone is added at the top", "x\nz\n", ["@@", "", "+y"], "\ny\nx\nz\n"],
  [
    "missing empty context is added behind the chunk before",
    "x\nz\n",
    ["@@", " x", "+1", "@@", "", "+y"],
    "x\n1\n\ny\nz\n",
  ],
  ["a removed empty line alone may be missing", "x\nz\n", ["@@", "-", "+y"], "y\nx\nz\n"],
  ["better: missing empty context at the end is added there", "x\n", ["@@", "", "+y", "*** End of File"], "x\n\ny\n"],
  ["better: added lines go behind their header", "a\nb\nc\n", ["@@ a", "+new"], "a\nnew\nb\nc\n"],
  ["added lines with a header and an end go to the end", "a\nb\n", ["@@ a", "+new", "*** End of File"], "a\nb\nnew\n"],
  ["two insertions keep their order", "x\n", ["@@", "+1", "@@", "+2"], "x\n1\n2\n"],
  ["an insertion at the end does not end the search", "x\ny\n", ["@@", "+1", "@@", "-x", "+X"], "X\ny\n1\n"],
  ["context alone changes nothing", "a\nb\n", ["@@", " b"], "a\nb\n"],
  ["a header is compared without blanks", "  class A  \n x\n", ["@@ class A", "- x", "+ y"], "  class A  \n y\n"],
  ["@@ with blanks has no header", "class A\n x\n", ["@@  ", "- x", "+ y"], "class A\n y\n"],
  ["a header twice is found twice", "h\nx\nh\nx\n", ["@@ h", "-x", "+1", "@@ h", "-x", "+2"], "h\n1\nh\n2\n"],
  ["CR", "one\rtwo\rthree\r", ["@@", " two", "+new"], "one\rtwo\rnew\rthree\r"],
  ["CR without a final one", "one\rtwo", ["@@", " two", "+three"], "one\rtwo\rthree\r"],
  ["better: a CR within a line ends no line", "1\r2\nfoo\nend\n", ["@@", " foo", "+bar"], "1\r2\nfoo\nbar\nend\n"],
  ["better: a line with a CR is replaced", "1\r2\nend\n", ["@@", "-1\r2", "+3"], "3\nend\n"],
  ["better: a CR within lines of a CRLF file", "1\r2\r\nend\r\n", ["@@", " end", "+x"], "1\r2\r\nend\r\nx\r\n"],
  ["better: a CR before CRLF", "1\r\r\nend\r\n", ["@@", "-end", "+x"], "1\r\r\nx\r\n"],
  ["better: what follows a CR may be named alone", "one\rx\ntwo\n", ["@@", "-x", "+y"], "one\ry\ntwo\n"],
  ["better: so may what precedes it", "one\rx\ntwo\n", ["@@", "-one", "+1", " x"], "1\rx\ntwo\n"],
  ["better: a whole line of parts may be named in lines", "a\rb\ntwo\n", ["@@", "-a", "-b", "+c"], "c\ntwo\n"],
  [
    "new lines take the first line end",
    "one\r\ntwo\nthree\n",
    ["@@", " two", "+mid", " three"],
    "one\r\ntwo\nmid\r\nthree\n",
  ],
  ["LF first", "one\ntwo\r\nthree\n", ["@@", "-two", "+TWO", "+2b"], "one\nTWO\n2b\nthree\n"],
  ["CRLF without a final one", "one\r\ntwo", ["@@", "-one", "+ONE"], "ONE\r\ntwo\r\n"],
  ["a kept last line gets a line end before what is added", "one\ntwo", ["@@", " two", "+three"], "one\ntwo\nthree\n"],
  ["no-break space", "a\u00a0b\n", ["@@", "-a b", "+c"], "c\n"],
  ["a dash of the patch", "a - b\n", ["@@", "-a — b", "+c"], "c\n"],
  ["quotes and dashes", "‚a‛ „b‟ –—‐‑‒―−\n", ["@@", "-'a' \"b\" -------", "+y"], "y\n"],
  ["blanks of Unicode around", "\u0085\u3000x\n", ["@@", "-x", "+y"], "y\n"],
  ["the end, trailing blanks aside", "x\ny  \n", ["@@", "-y", "+Y", "*** End of File"], "x\nY\n"],
  ["NUL", "x\0y\nz\n", ["@@", "-z", "+Z"], "x\0y\nZ\n"],
  ["better: a byte order mark stays", "\ufeffone\ntwo\n", ["@@", " one", "-two", "+TWO"], "\ufeffone\nTWO\n"],
  ["better: a byte order mark in the patch", "\ufeffone\n", ["@@", "-\ufeffone", "+\ufeffONE"], "\ufeffONE\n"],
  ["better: a mark alone", "\ufeff", ["@@", "+x"], "\ufeffx\n"],
])("%s", (_, before, chunk, after) => {
  it("applies", () => expect(apply(before, chunk)).toBe(after));
});

describe("what is not found", () => {
  it.each<[name: string, before: string, chunk: string[], pattern: RegExp]>([
    [
      "the lines, and what is there instead",
      "one\ntwo\nthree\n",
      ["@@", " one", "-tow", "+x"],
      /line 3 of the patch.*\none\ntow\nThe nearest place begins at line 1 .*\ntow\nthe file has:\ntwo \(line 2\)/s,
    ],
    [
      "a difference in case",
      "One\ntwo\n",
      ["@@", " one", "-two"],
      /the patch has:\none\nthe file has:\nOne \(line 1\)/,
    ],
    ["a missing blank line", "one\n\ntwo\n", ["@@", " one", "-two"], /the patch has:\ntwo\nthe file has:\n \(line 2\)/],
    [
      "the nearest single line",
      "function add(a, b) {\n}\n",
      ["@@", "-function add(a,b,c) {", "+x"],
      /nearest line is line 1 .*\nfunction add\(a, b\) \{/s,
    ],
    [
      "that nothing is like it",
      "alpha\nbeta\n",
      ["@@", "-zzzz", "+x"],
      /Nothing in the file is like it: it has 2 lines/,
    ],
    ["an empty file", "", ["@@", "-x", "+y"], /The file is empty/],
    [
      "a place before the search",
      "a\nb\nc\n",
      ["@@", "-c", "+C", "@@", "-a", "+A"],
      /after line 3 .*It is at line 1 .*before that/s,
    ],
    [
      "a header that is the first line of the chunk",
      "h\nx\n",
      ["@@ h", " h", "-x"],
      /It is at line 1.*a header is the line above/s,
    ],
    [
      "part of a header",
      "class A(object):\n  x\n",
      ["@@ class A", "-  x"],
      /'@@ class A' names.*line 1 of the file:\nclass A\(object\):\nA header is one whole line/s,
    ],
    [
      "a place that is not the end",
      "x\nz\n",
      ["@@", "-x", "+y", "*** End of File"],
      /at the end of the file.*They are at line 1.*leave out '\*\*\* End of File'/s,
    ],
    [
      "an end before the search",
      "x\ny\nx\n",
      ["@@", "-x", "-y", "-x", "+q", "@@", "-x", "*** End of File"],
      /after line 3/,
    ],
    ["inner blanks", "a  b\n", ["@@", "-a b", "+c"], /the file has:\na {2}b/],
    ["a mark inside of the file", "q\n\ufeffx\n", ["@@", "-x", "+y"], /the file has:\n\\ufeffx/],
  ])("names %s", (_, before, chunk, pattern) => {
    expect(problemOf(before, chunk)).toMatch(pattern);
  });

  it("refuses what is no UTF-8, and says what to do", () => {
    expect(problemOf(Buffer.from([0x78, 0x0a, 0xff, 0x0a]), ["@@", "-x", "+y"])).toMatch(/not UTF-8.*with a command/);
  });

  it("repeats no half of a character", () => {
    const text = problemOf(`${"x".repeat(299)}\u{1f600} tail\n`, ["@@", `-${"x".repeat(299)}\u{1f601} tail`]);
    expect(text).toContain(`${"x".repeat(299)}…`);
    expect(text).not.toMatch(/\p{Cs}/u);
  });

  it("repeats no more than a part of a long chunk", () => {
    const sought = Array.from({ length: 500 }, (_, index) => `-${"x".repeat(2_000)}${index}`);
    const text = problemOf("a\n", ["@@", ...sought]);
    expect(text).toContain("… 460 more lines");
    expect(text.length).toBeLessThan(20_000);
  });
});

describe("limits", () => {
  it("ends a search that takes too long", () => {
    const count = 20_000;
    // Each chunk is there in its second pass only, after its lines were sought in the whole file in the first.
    const chunks = Array.from({ length: count }, () => ["@@", " a", " c"]).flat();
    const content = "a\nc \n".repeat(count);
    expect(problemOf(`${content}q\nc\n`, chunks)).toContain(`more than ${MAX_SEARCH_STEPS} steps`);
  });

  it("is linear where lines repeat", () => {
    const content = `${"a\n".repeat(100_000)}b\n`;
    expect(apply(content, ["@@", ...Array<string>(50_000).fill(" a"), "-b", "+c"])).toBe(content.replace("b", "c"));
  });

  it("takes fifty thousand chunks", () => {
    const numbers = Array.from({ length: 50_000 }, (_, index) => index);
    const before = numbers.map((number) => `line ${number}  \n`).join("");
    const chunks = numbers.flatMap((number) => ["@@", `-line ${number}`, `+LINE ${number}`]);
    expect(apply(before, chunks)).toBe(before.replaceAll("line", "LINE").replaceAll("  \n", "\n"));
  });
});
