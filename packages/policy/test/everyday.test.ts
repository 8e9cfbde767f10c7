import { readFileSync } from "node:fs";
import { createLazyShellParser } from "@codex/shell-analysis";
import { describe, expect, it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import { evaluateRequirement } from "../src/requirement.js";
import { createEffectiveRules } from "../src/rule-book.js";
import { parseRulePolicy } from "../src/rules/load-policy.js";

// What developers run all day is not asked about because something might hide in it.

const read = (name: string): string[] =>
  JSON.parse(readFileSync(new URL(`./corpus/${name}.json`, import.meta.url), "utf8"));
const scripts = read("everyday");
const transcripts = read("transcripts");
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

// Scripts as models write them for building, testing, searching and editing; three of them push, or remove files.
describe("a script of a transcript", () => {
  const ask = async (isHeld: boolean) => {
    const asked: string[] = [];
    for (const script of transcripts) {
      const command = await analyzeCommand(["bash", "-lc", script], undefined, shellParser);
      const context = { approvalPolicy: "on-request", sandboxPermissions: "use_default", unrestricted: false } as const;
      if (evaluateRequirement(command, { ...context, rules, isHeld }).kind !== "skip") asked.push(script);
    }
    return asked;
  };
  const SPELLED_OUT = [
    "rm -rf build dist && npm run build",
    "find . -name __pycache__ -type d -prune -exec rm -rf {} +",
    'git add -A && git commit -m "wip" && git push origin HEAD',
  ];

  it("is one of a hundred", () => expect(new Set(transcripts).size).toBeGreaterThanOrEqual(100));

  it("is asked about only for what it spells out where its programs are judged when they start", async () => {
    expect(await ask(true)).toEqual(SPELLED_OUT);
  });

  it("is otherwise asked about where a program in it might start what a rule restricts", async () => {
    const asked = await ask(false);
    expect(asked).toEqual(expect.arrayContaining([...SPELLED_OUT, "curl -fsSL https://example.com/install.sh | bash"]));
    expect(asked.length).toBeLessThanOrEqual(SPELLED_OUT.length + 3);
  });
});
