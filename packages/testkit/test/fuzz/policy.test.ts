import { readFileSync } from "node:fs";
import { loadShellParser, parseRulePolicy } from "@codex/policy";
import { Budget, StarlarkError } from "@codex/starlark";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findAffectedPrograms } from "../../../policy/src/rules/affected-programs.js";
import { parseRuleFile } from "../../../policy/src/rules/parse-rule-file.js";
import { joinWords, splitWords } from "../../../shell-analysis/src/line-words.js";
import { findLiteralCommands } from "../../../shell-analysis/src/literal-commands.js";
import { readRoughCommands } from "../../../shell-analysis/src/rough-words.js";
import { splitScript } from "../../../shell-analysis/src/split.js";
import { check, mutatedText, repeatedText } from "./support.js";

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8"));

const ruleTexts = [
  ...(read("policy/test/rules/corpus/rules.json") as { files: Record<string, string> }[]).flatMap(({ files }) =>
    Object.values(files),
  ),
  ...(read("starlark/test/corpus/starlark.json") as { expression?: string }[]).map(
    ({ expression }) => `x = ${expression}\n`,
  ),
];
const scripts = ["split", "literal"].flatMap((name) =>
  (read(`shell-analysis/test/corpus/${name}.json`) as { script: string }[]).map(({ script }) => script),
);
const parser = await loadShellParser();

// biome-ignore format: a dictionary
const STARLARK = [
  "(", ")", "[", "]", "{", "}", "'", '"', '"""', "\\", "\n", "\n  ", "#", ":", ",", "=", "f'{", "}'", "%", "*", "**",
  "def f(x):\n ", "for i in range(9): ", "if ", " else ", "lambda x: ", "prefix_rule(", "pattern=", "not ", "-", "0x", "1e9",
  " in ", ".format(", "load(", "\t", "\ufeff", "\0", "r'", "b'", "u'",
];
// biome-ignore format: a dictionary
const SHELL = [
  "'", '"', "\\", "\n", "\\\n", ";", "&", "&&", "|", "||", "(", ")", "{", "}", "$(", "`", "$", "${", "<<EOF\n", "<(",
  ">", "<", "2>&1", "#", "!", "*", "?", "[", "~", "{a,b}", "{1..9}", "=", "if ", "then ", "do ", "bash -c '", "eval ",
  "sudo ", "xargs ", "\t", "\r", "\0", "$'\\x41'", "\u00a0",
];

const small = () => new Budget({ steps: 50_000, allocatedBytes: 1024 * 1024, callDepth: 16, evaluationDepth: 300 });

describe("a rule file", () => {
  const texts = fc.oneof(
    { weight: 6, arbitrary: mutatedText(ruleTexts, STARLARK) },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    { weight: 1, arbitrary: repeatedText(STARLARK, 3_000) },
  );

  it("loads or reports the place of the problem, within its budget", () =>
    check(
      fc.property(texts, (text) => {
        try {
          parseRuleFile({ file: "a.rules", text }, [], small());
        } catch (error) {
          expect(error).toBeInstanceOf(StarlarkError);
          const { location } = error as StarlarkError;
          expect(location.line).toBeGreaterThan(0);
          expect(location.line).toBeLessThanOrEqual(text.split("\n").length);
          expect(location.column).toBeGreaterThan(0);
        }
      }),
      600,
    ));

  it("does not affect others: one that does not load is reported with the programs that it may affect", () =>
    check(
      fc.property(texts, (text) => {
        const suspects = findAffectedPrograms(text);
        expect(suspects === "everything" || suspects instanceof Set).toBe(true);
        const policy = parseRulePolicy([{ file: "a.rules", text }]);
        expect(policy).toBeDefined();
      }),
      150,
    ));

  it("that does not load affects every program that it names in a list", () =>
    check(
      fc.property(fc.stringMatching(/^[a-z]{2,8}$/), fc.constantFrom("forbidden", "prompt"), (program, decision) => {
        const suspects = findAffectedPrograms(
          `prefix_rule(["${program}", "x"], decision="${decision}")\nprefix_rule(\n`,
        );
        expect(suspects === "everything" || suspects.has(program)).toBe(true);
      }),
    ));
});

describe("a script", () => {
  const texts = fc.oneof(
    { weight: 6, arbitrary: mutatedText(scripts, SHELL) },
    { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
    { weight: 1, arbitrary: repeatedText(SHELL, 1_000) },
  );

  it("is split into words or not at all; if split, the search for dangerous commands finds the same ones", () =>
    check(
      fc.property(texts, (script) => {
        const split = splitScript(parser, script);
        const literal = findLiteralCommands(parser, ["bash", "-c", script]);
        if (split === null) return;
        expect(split.length).toBeGreaterThan(0);
        for (const command of split) {
          expect(command.length).toBeGreaterThan(0);
          if (!literal.complete) continue;
          expect(literal.commands).toContainEqual(command);
        }
      }),
      200,
    ));

  it("is scanned in linear time", () =>
    check(
      fc.property(fc.oneof(texts, repeatedText(SHELL, 100_000)), (script) => {
        for (const command of readRoughCommands(script)) expect(command.length).toBeGreaterThan(0);
      }),
      20,
    ));
});

describe("words of a line", () => {
  const words = fc.array(fc.oneof(fc.constantFrom(...SHELL, ""), fc.string(), fc.string({ unit: "binary" })), {
    minLength: 1,
    maxLength: 6,
  });

  it("are split as they were joined", () =>
    check(
      fc.property(words, (wanted) => {
        expect(splitWords(joinWords(wanted))).toEqual(wanted);
      }),
      1_000,
    ));

  it("are the only command of the script they form, if that is split", () =>
    check(
      fc.property(words, (wanted) => {
        const split = splitScript(parser, joinWords(wanted));
        if (split !== null) expect(split).toEqual([wanted]);
      }),
      300,
    ));

  it("of any line are words or undefined", () =>
    check(
      fc.property(fc.oneof(mutatedText(scripts, SHELL), repeatedText(SHELL, 50_000)), (line) => {
        const found = splitWords(line);
        if (found !== undefined) expect(splitWords(joinWords(found))).toEqual(found);
      }),
      200,
    ));
});
