import { readFileSync } from "node:fs";
import { createLazyShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import { evaluateRequirement } from "../src/requirement.js";
import { createEffectiveRules } from "../src/rule-book.js";
import { parseRulePolicy } from "../src/rules/load-policy.js";

// What developers run all day is not asked about because something might hide in it.

const scripts: string[] = JSON.parse(readFileSync(new URL("./corpus/everyday.json", import.meta.url), "utf8"));
const shellParser = createLazyShellParser();
const rules = createEffectiveRules(
  parseRulePolicy([
    {
      file: "r",
      text: 'prefix_rule(pattern=["rm"], decision="forbidden")\nprefix_rule(pattern=["git", "push"], decision="prompt")',
    },
  ]),
  "/w",
);

describe("an everyday command", () => {
  it("is one of many", () => expect(new Set(scripts).size).toBeGreaterThan(350));

  it.each(scripts)("is not asked about: %j", async (script) => {
    const command = await analyzeCommand(["bash", "-lc", script], undefined, shellParser);
    const context = { approvalPolicy: "on-request", sandboxPermissions: "use_default", unrestricted: false } as const;
    expect(evaluateRequirement(command, { ...context, rules })).toEqual({ kind: "skip", bypassSandbox: false });
  });
});
