import { describe, expect, it } from "vitest";
import { parseRuleFile } from "../../policy/src/rules/parse-rule-file.js";
import { StarlarkError } from "../src/errors.js";

function message(text: string): string {
  try {
    parseRuleFile({ file: "user/default.rules", text });
  } catch (error) {
    if (error instanceof StarlarkError) return error.message;
    throw error;
  }
  throw new Error("the file loads");
}

describe("errors of rule files", () => {
  it.each([
    ['prefix_rule(pattern=["a"', "user/default.rules:1:21: this bracket is not closed. Close it."],
    ['x = "abc', 'user/default.rules:1:5: this string is not closed. Add the closing ".'],
    ["x = 1\n\tx = 2", "user/default.rules:2:1: a tab is not allowed in indentation. Use spaces."],
    [
      "x = 1 +",
      "user/default.rules:1:8: found the end of the line where an expression is expected. Correct the syntax.",
    ],
    ["import os", "user/default.rules:1:1: `import` is reserved and cannot be used. Starlark has no such statement."],
    [
      'load("a", "b")',
      "user/default.rules:1:1: rule files cannot load other files. Copy what is needed into this file.",
    ],
    ["1 < 2 < 3", "user/default.rules:1:7: comparisons cannot be chained. Join two comparisons with `and`."],
    ["x = 1\n\ny = x + 'a'", "user/default.rules:3:7: `+` does not work on `int` and `string`. Correct this value."],
    ["x = [][1]", "user/default.rules:1:5: the index 1 is outside of a length of 0. Correct this value."],
    [
      "[].sort()",
      "user/default.rules:1:1: a value of type `list` has no attribute `sort`. It has: append, clear, extend, index, insert, pop, remove.",
    ],
    ['fail("no", 1)', "user/default.rules:1:1: fail: no 1. The file itself calls fail()."],
    [
      "def f():\n  return 1 // 0\n\nf()",
      "user/default.rules:2:12: division by zero (called from line 4). Correct this value.",
    ],
    [
      'prefix_rule(["a"], decision="deny")',
      'user/default.rules:1:1: "deny" is not a decision. Use one of allow, prompt, forbidden.',
    ],
    [
      'prefix_rule(["a"], desicion="allow")',
      "user/default.rules:1:1: prefix_rule() has no parameter `desicion`. Its parameters are pattern, decision, match, not_match, justification, canonical_matching, sandbox, whole, outside, env.",
    ],
    ["prefix_rule()", "user/default.rules:1:1: prefix_rule() needs the argument `pattern`. Correct this value."],
    [
      'prefix_rule(["a", 1])',
      "user/default.rules:1:1: an element of `pattern` must be a string or a list of strings (got int). Correct this value.",
    ],
    [
      '# rules\nprefix_rule(["git"], match=["git x", "ls \'a b\'"])',
      "user/default.rules:2:1: the example `ls 'a b'` in `match` does not match this rule. Correct the rule or the example.",
    ],
    [
      'prefix_rule(["git"], not_match=[["git", "x"]])',
      "user/default.rules:1:1: the example `git x` in `not_match` matches this rule. Correct the rule or the example.",
    ],
    [
      'prefix_rule(["a"], decision="prompt", sandbox="keep")',
      'user/default.rules:1:1: `sandbox` has a meaning only for decision="allow". Leave it out.',
    ],
    [
      'prefix_rule(["a"], sandbox="off")',
      'user/default.rules:1:1: `sandbox` cannot be "off". Write "keep" or leave it out.',
    ],
    [
      'host_executable("a/b", ["/a/b"])',
      'user/default.rules:1:1: the host_executable name "a/b" is a path. Give the bare name of the program.',
    ],
    ['network_rule("*.x", "http", "allow")', 'user/default.rules:1:1: the host "*.x" has a wildcard. Name one host.'],
  ])("%j", (text, expected) => expect(message(text)).toBe(expected));

  it("names every built-in when a name is unknown, in code that never runs, too", () => {
    expect(message("def f():\n  prefix_rul([])")).toMatch(
      /^user\/default\.rules:2:3: the name `prefix_rul` is not defined\. Built in are: .*prefix_rule/,
    );
  });

  it("counts lines of files with Windows line ends", () => {
    expect(message("x = 1\r\n\r\ny = z\r\n")).toMatch(/^user\/default\.rules:3:5: /);
  });
});
