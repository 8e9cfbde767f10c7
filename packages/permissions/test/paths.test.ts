import { describe, expect, it } from "vitest";
import { expandBraces, isWithin, renderNamePattern } from "../src/paths.js";

it.each([
  ["/a/b", "/a", true],
  ["/a", "/a", true],
  ["/ab", "/a", false],
  ["/a", "/a/b", false],
  ["/x", "/", true],
  ["/", "/", true],
])("%s in directory %s: %s", (path, directory, expected) => {
  expect(isWithin(path, directory)).toBe(expected);
});

it("expands braces that are not nested", () => {
  expect(expandBraces("/a/{b,c}/{d,e}")).toEqual(["/a/b/d", "/a/b/e", "/a/c/d", "/a/c/e"]);
  expect(expandBraces("/a/{b}")).toEqual(["/a/{b}"]);
});

it("refuses braces with more alternatives than 1024, before it makes them", () => {
  expect(expandBraces("{a,b}".repeat(10))).toHaveLength(1024);
  for (const braces of ["{a,b}".repeat(11), "{a,b}".repeat(1_000), `{${",".repeat(1_024)}}`]) {
    expect(() => expandBraces(braces)).toThrow("more than 1024 alternatives");
  }
});

describe("a name of a pattern", () => {
  it.each([
    ["*.pem", ["a.pem", ".pem"], ["a.pem2", "apem"]],
    ["id_?", ["id_a", "id_😀"], ["id_", "id_ab"]],
    ["[]]a", ["]a"], ["[a", "a"]],
    ["[]-]", ["]", "-"], ["[", "\\"]],
    ["[!]a]", ["b", "[", "!"], ["]", "a"]],
    ["[^]]", ["a", "^"], ["]"]],
    ["[[a]", ["[", "a"], ["]"]],
    ["[[?*\\]", ["[", "?", "*", "\\"], ["a"]],
    ["[a-c]", ["a", "b", "c"], ["d", "-"]],
    ["[c-a]", ["a", "b", "c"], ["d", "-"]],
    ["[a-]", ["a", "-"], ["b"]],
    ["[-a]", ["a", "-"], ["b"]],
    ["[]-a]", ["]", "^", "a"], ["[", "b"]],
    ["[[:digit:]_]", ["0", "_"], ["a", ":", "["]],
    ["[![:space:]]", ["a"], [" "]],
    ["[[:nothing:]]", [], ["n", ":"]],
    ["[!]", ["[!]"], ["!"]],
    ["[]", ["[]"], [""]],
    ["[a", ["[a"], ["a"]],
    ["a]b", ["a]b"], ["ab"]],
    ["a-b&&c", ["a-b&&c"], []],
    ["[a&&b--c~]", ["a", "&", "b", "~"], ["d"]],
    ["(a|b)+$", ["(a|b)+$"], ["a", "b"]],
    ["{a}", ["{a}"], ["a"]],
  ])("%j matches %j, and not %j", (pattern, matching, others) => {
    const expression = new RegExp(`^${renderNamePattern(pattern)}$`, "su");
    for (const name of matching) expect(expression.test(name), name).toBe(true);
    for (const name of others) expect(expression.test(name), name).toBe(false);
  });

  it("never spans directories", () => {
    for (const pattern of ["a*c", "a?c", "a[/]c", "a[!b]c", "a[.-0]c"]) {
      expect(new RegExp(`^${renderNamePattern(pattern)}$`, "su").test("a/c"), pattern).toBe(false);
    }
  });
});
