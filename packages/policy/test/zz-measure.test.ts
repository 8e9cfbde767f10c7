import { readFileSync, writeFileSync } from "node:fs";
import { createLazyShellParser } from "@codex/shell-analysis";
import { it } from "vitest";
import { analyzeCommand } from "../src/analyze-command.js";
import { evaluateRequirement } from "../src/requirement.js";
import { createEffectiveRules } from "../src/rule-book.js";
import { parseRulePolicy } from "../src/rules/load-policy.js";
import { VARIANTS } from "./variants/all.js";
import { fill } from "./variants/variant.js";

const p = createLazyShellParser();
it("measures", async () => {
  const lines: string[] = [];
  const zap = createEffectiveRules(
    parseRulePolicy([{ file: "r", text: `prefix_rule(pattern=["zap"], decision="forbidden")` }]),
    "/w",
  );
  let missed = 0,
    forbidden = 0;
  for (const [i, v] of VARIANTS.entries()) {
    const c = await analyzeCommand(fill(v.argv, "/w/zap"), undefined, p);
    const k = evaluateRequirement(c, {
      approvalPolicy: "on-request",
      sandboxPermissions: "use_default",
      unrestricted: true,
      rules: zap,
    }).kind;
    if (k === "forbidden") forbidden++;
    if (k === "skip") {
      missed++;
      lines.push(`M ${i} ${v.way}: ${JSON.stringify(v.argv.slice(-1)[0]).slice(0, 260)}`);
    }
  }
  const rules = createEffectiveRules(
    parseRulePolicy([
      {
        file: "r",
        text: 'prefix_rule(pattern=["rm"], decision="forbidden")\nprefix_rule(pattern=["git", "push"], decision="prompt")',
      },
    ]),
    "/w",
  );
  const scripts: string[] = JSON.parse(readFileSync(new URL("./corpus/everyday.json", import.meta.url), "utf8"));
  let asked = 0;
  for (const s of scripts) {
    const c = await analyzeCommand(["bash", "-lc", s], undefined, p);
    const f = evaluateRequirement(c, {
      approvalPolicy: "on-request",
      sandboxPermissions: "use_default",
      unrestricted: false,
      rules,
    });
    if (f.kind !== "skip") {
      asked++;
      lines.push(`E ${JSON.stringify(s).slice(0, 200)} :: ${f.kind} ${f.reason.slice(0, 140)}`);
    }
  }
  lines.unshift(
    `missed ${missed} of ${VARIANTS.length}, forbidden ${forbidden}; everyday asked ${asked} of ${scripts.length}`,
  );
  writeFileSync("/opt/measure.txt", lines.join("\n"));
});
