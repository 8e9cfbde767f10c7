import type { SaveRule } from "./rule-book.js";
import { fileOfRule, renderAllowRule } from "./rules/allow-rule.js";
import { readRuleText } from "./rules/load-policy.js";
import { saveAllowRule } from "./rules/save-rule.js";

/** Returns a function that saves rules to this file, and those for whole commands beside it; both are created if missing. */
export function createRuleSaver(prefixes: string): SaveRule {
  return async (prefix) => {
    const file = fileOfRule(prefixes, prefix);
    await saveAllowRule(file, prefix);
    const lines = (await readRuleText(file)).split(/\r?\n/);
    return { file, line: lines.indexOf(renderAllowRule(prefix)) + 1 };
  };
}
