import { MAX_CHUNKS, MAX_OPERATIONS, MAX_PATCH_BYTES, parsePatch } from "@codex/apply-patch";
import { describe, expect, it } from "vitest";

const wrap = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
const BODY = wrap("*** Update File: a.txt", "@@", "-x", "+y");
const problemOf = (text: string): string => {
  const parsed = parsePatch(text);
  return parsed.ok ? "parsed" : parsed.problem.message;
};

describe("what is around a patch", () => {
  it.each([
    ["blank lines", `\n  \n${BODY}\n\t\n`],
    ["blanks at line ends", BODY.replaceAll(/\n/g, "  \n").replace("-x  ", "-x").replace("+y  ", "+y")],
    ["CRLF", BODY.replaceAll("\n", "\r\n")],
    ["an indented frame", BODY.replace("*** Begin", "  *** Begin").replace("*** End", " *** End")],
    ["a here-document", `<<'EOF'\n${BODY}\nEOF\n`],
    ["one without quotes", `<<EOF\n${BODY}\nEOF`],
    ["one with the command", `apply_patch <<"PATCH"\n${BODY}\nPATCH\n`],
    ["a fence", `\`\`\`diff\n${BODY}\n\`\`\``],
    ["a fence of tildes around a here-document", `~~~\napplypatch <<EOF\n${BODY}\nEOF\n~~~`],
    ["the arguments of a function", JSON.stringify({ input: BODY })],
  ])("takes %s", (_, text) => {
    expect(parsePatch(text)).toMatchObject({
      ok: true,
      patch: { operations: [{ kind: "update", path: "a.txt", chunks: [{ lines: [{ text: "x" }, { text: "y" }] }] }] },
    });
  });

  it.each([
    ["", /empty.*Begin Patch/],
    ["*** begin patch\n*** End Patch", /upper and lower case/],
    ["--- a/x\n+++ b/x", /Begin Patch.*git diff/],
    [`<<'EOF'\n${BODY}`, /Begin Patch.*here-document around it has no end/],
    [`<<'PATCH'\n${BODY}\nPATCH`, /Begin Patch/],
    ["*** Begin Patch", /End Patch/],
    [`${BODY}\nthat is it`, /End Patch'.*'that is it'/],
    [`${BODY}\n${BODY}`, /line 6.*one call takes one patch/],
    [wrap(), /empty: it names no file/],
    ['{"input": 5}', /Begin Patch/],
    [wrap("*** Environment ID:", "*** Delete File: a"), /names no environment/],
  ])("refuses %j", (text, pattern) => {
    expect(problemOf(text)).toMatch(pattern);
  });
});

describe("operations", () => {
  it("parses all of them, paths without the blanks around them", () => {
    const text = wrap(
      "*** Environment ID: box",
      "*** Add File:  a b.txt ",
      "+one",
      "+",
      "  *** Delete File: d",
      "*** Update File: e",
      "*** Move to: f",
      "",
      "@@ class A  ",
      " x",
      "",
      "*** not an operation",
    );
    expect(problemOf(text)).toMatch(/line 13.*'\*\*\* not an operation'/);
    expect(parsePatch(text.replace("\n*** not an operation", "\n-y\n*** End of File  "))).toEqual({
      ok: true,
      patch: {
        environmentId: "box",
        operations: [
          { kind: "add", path: "a b.txt", line: 3, lines: ["one", ""] },
          { kind: "delete", path: "d", line: 6 },
          {
            kind: "update",
            path: "e",
            line: 7,
            moveTo: "f",
            chunks: [
              {
                line: 10,
                header: "class A",
                lines: [
                  { kind: "context", text: "x" },
                  { kind: "context", text: "" },
                  { kind: "remove", text: "y" },
                ],
                isAtEnd: true,
              },
            ],
          },
        ],
      },
    });
  });

  it.each([
    [["*** Add File: a", "+x", "", "*** Delete File: b"], /line 4.*empty line/],
    [["*** Add File:", "+x"], /line 2.*Add File:'/],
    [["*** Add File:a", "+x"], /line 2.*'\*\*\* Add File:a'/],
    [["*** Delete File: a", "-x"], /line 3.*'-x'/],
    [["*** Update File: a"], /'a': the update has no chunk/],
    [["*** Update File: a", "*** Move to: ", "@@", "-x"], /names no path/],
    [["*** Update File: a", "@@", "-x", "foo"], /line 5.*'foo'/],
    [["*** Update File: a", "foo"], /line 3.*'foo' is not allowed in a chunk/],
    [["*** Update File: a", "@@", "@@  def f", "-x"], /'@@ {2}def f' is not allowed/],
    [["*** Update File: a", "@@", "*** note"], /'\*\*\* note' is not allowed/],
    [["*** Update File: a", "@@", "*** End of File"], /line 4.*no lines/],
    [["*** Update File: a", "@@"], /line 4.*no lines/],
    [["*** Update File: a\0b", "@@", "-x"], /NUL/],
    [["*** Add File: a", "+\ud800"], /line 3.*surrogate/],
  ])("refuses %j", (lines, pattern) => {
    expect(problemOf(wrap(...lines))).toMatch(pattern);
  });
});

describe("limits", () => {
  const tooLarge: Record<string, [limit: number, text: () => string]> = {
    bytes: [MAX_PATCH_BYTES, () => wrap("*** Add File: a", `+${"€".repeat(MAX_PATCH_BYTES / 3)}`)],
    operations: [
      MAX_OPERATIONS,
      () => wrap("*** Delete File: a\n".repeat(MAX_OPERATIONS).concat("*** Delete File: a")),
    ],
    chunks: [MAX_CHUNKS, () => wrap("*** Update File: a", "@@\n-x\n".repeat(MAX_CHUNKS).concat("@@\n-x"))],
  };
  it.each(Object.keys(tooLarge))("names the limit of %s", (name) => {
    const [limit, text] = tooLarge[name]!;
    expect(problemOf(text())).toContain(`at most ${limit}`);
  });
});
