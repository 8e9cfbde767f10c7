import type { SaveRule } from "./rule-book.js";
import { fileOfRule, renderAllowRule } from "./rules/allow-rule.js";
import { readRuleText } from "./rules/load-policy.js";
import { saveAllowRule } from "./rules/save-rule.js";

/** Returns a function that saves rules to this file, and those that Codex could not read beside it; both are created if missing. */
export function createRuleSaver(shared: string): SaveRule {
  return async (rule) => {
    const file = fileOfRule(shared, rule);
    await saveAllowRule(file, rule);
    const lines = (await readRuleText(file)).split(/\r?\n/);
    return { file, line: lines.indexOf(renderAllowRule(rule)) + 1 };
  };
}
