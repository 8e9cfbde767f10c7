import { expect, it } from "vitest";
import { findMatcherProblem, matches } from "../src/node/matcher.js";

it.each<[string | undefined, string, boolean]>([
  [undefined, "Bash", true],
  ["", "Bash", true],
  ["*", "Bash", true],
  ["Bash", "Bash", true],
  ["Bash", "BashOutput", false],
  ["Edit|Write", "Write", true],
  ["Edit|Write", "Bash", false],
  ["mcp__memory", "mcp__memory__create", false],
  ["mcp__memory__.*", "mcp__memory__create", true],
  ["mcp__.*__write.*", "mcp__files__write_file", true],
  ["^Bash", "BashOutput", true],
  ["^Bash$", "BashOutput", false],
  ["(?i)^bash$", "BASH", true],
])("a matcher %j and %j: %s, as in Codex", (matcher, name, expected) => {
  expect(matches(matcher, [name])).toBe(expected);
});

it("a matcher is for each name of a tool", () => {
  expect(matches("^Edit$", ["apply_patch", "Write", "Edit"])).toBe(true);
});

it.each(["[", "(", "a{2,1}", "(?P<x>a)"])("the matcher %j is none", (matcher) => {
  expect(findMatcherProblem(matcher)).toMatch(/./);
});
