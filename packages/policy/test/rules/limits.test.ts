import { StarlarkError } from "@codex/starlark";
import { describe, expect, it } from "vitest";
import * as locks from "../../../file-lock/src/limits.js";
import * as starlark from "../../../starlark/src/limits.js";
import * as limits from "../../src/rules/limits.js";
import { parseRuleFile } from "../../src/rules/parse-rule-file.js";

const load = (text: string) => parseRuleFile({ file: "a.rules", text });

function fail(text: string): StarlarkError {
  try {
    load(text);
  } catch (error) {
    if (error instanceof StarlarkError) return error;
    throw error;
  }
  throw new Error("the file loads");
}

const nested = (open: string, inner: string, close: string, depth: number) =>
  open.repeat(depth) + inner + close.repeat(depth);
const DOUBLING = "x = [1]\nfor i in range(100): x = [x, x]\n";

describe("bounds of rule files", () => {
  it("are these", () => {
    expect({ ...limits, ...starlark, ...locks }).toEqual({
      MAX_RULE_FILE_BYTES: 1_048_576,
      MAX_RULE_FILES_PER_LAYER: 256,
      MAX_RULES_PER_FILE: 20_000,
      MAX_STEPS: 5_000_000,
      MAX_ALLOCATED_BYTES: 67_108_864,
      MAX_CALL_DEPTH: 64,
      MAX_EVALUATION_DEPTH: 1_500,
      MAX_SYNTAX_DEPTH: 100,
      MAX_INTEGER_BITS: 65_536,
      SAVE_LOCK_TIMEOUT_MS: 5_000,
      SAVE_LOCK_RETRY_MS: 20,
      SAVE_LOCK_STALE_MS: 30_000,
      MAX_LOCK_BYTES: 1024,
      MAX_LINKS: 40,
    });
  });

  it.each([
    ["bytes of the file", `#${"é".repeat(limits.MAX_RULE_FILE_BYTES / 2)}`, "1048576 bytes"],
    ["rules", `prefix_rule([["a"] * ${limits.MAX_RULES_PER_FILE + 1}])`, "20000 rules"],
    ["steps", "for i in range(10000000): pass", "5000000 evaluation steps"],
    [
      "steps in nested loops",
      nested("", "for i in range(3000):\n for j in range(3000):\n  pass", "", 1),
      "evaluation steps",
    ],
    ["memory of strings", 'x = "a" * 100000000', "67108864 bytes"],
    ["memory of lists", "x = [0] * 10000000", "5000000 evaluation steps"],
    ["memory of doubling strings", 'x = "a"\nfor i in range(100): x = x + x', "67108864 bytes"],
    ["the text of shared lists", `${DOUBLING}y = repr(x)`, "67108864 bytes"],
    ["the comparison of shared lists", `${DOUBLING}y = x\n${DOUBLING}z = x == y`, "evaluation steps"],
    ["the text of formats", 'x = "%s" * 100000\ny = x % tuple(["a" * 10000] * 100000)', "67108864 bytes"],
    ["the joined text", 'x = ("a" * 1000000).join(["b"] * 1000)', "67108864 bytes"],
    ["the replaced text", 'x = ("a" * 100000).replace("a", "b" * 100000)', "67108864 bytes"],
    ["the result of a shift", "x = 1 << 70000", "65536 bits"],
    ["the result of products", "x = 1 << 60000\ny = x * x", "65536 bits"],
    ["the digits of an integer", 'x = int("9" * 20000)', "cannot read"],
    ["calls", "def f(n): return f(n + 1)\nf(0)", "64 levels"],
    ["brackets", `x = ${nested("[", "1", "]", 200)}`, "100 levels"],
    ["blocks", Array.from({ length: 150 }, (_, depth) => `${" ".repeat(depth)}if True:`).join("\n"), "100 levels"],
    ["signs", `x = ${"-".repeat(5_000)}1`, "100 levels"],
    ["negations", `x = ${"not ".repeat(5_000)}1`, "100 levels"],
    ["conditionals", `x = ${"1 if True else ".repeat(5_000)}1`, "100 levels"],
    ["sums", `x = ${"1 + ".repeat(5_000)}1`, "1500 levels"],
    ["chained calls", `x = "a"${".strip()".repeat(5_000)}`, "1500 levels"],
    ["lists in lists", "x = []\nfor i in range(2000): x = [x]\ny = repr(x)", "1500 levels"],
    ["f-strings in f-strings", `x = ${"f'{".repeat(200)}1`, ""],
  ])("stops at too many %s", (_name, text, limit) => expect(fail(text).message).toContain(limit));

  it("lets ordinary amounts through", () => {
    const text = `x = [i for i in range(100000)]\ny = "a" * 1000000\nz = ${"1 + ".repeat(1_000)}1\n`;
    const rules = Array.from({ length: 2_000 }, (_, index) => `prefix_rule(["p${index}", ["a", "b"]])`).join("\n");
    expect(load(text + rules).rules).toHaveLength(2_000);
  });

  it("leaves nothing behind for the next file", () => {
    fail("for i in range(10000000): pass");
    expect(load('for i in range(1000): pass\nprefix_rule(["a"])').rules).toHaveLength(1);
  });
});
