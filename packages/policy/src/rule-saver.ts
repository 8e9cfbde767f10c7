import type { SaveRule } from "./rule-book.js";
import { readRuleText } from "./rules/load-policy.js";
import { renderAllowRule, saveAllowRule } from "./rules/save-rule.js";

/** Returns a function that saves rules to this file, which is created if it is missing. */
export function createRuleSaver(file: string): SaveRule {
  return async (prefix) => {
    await saveAllowRule(file, prefix);
    const lines = (await readRuleText(file)).split(/\r?\n/);
    return { file, line: lines.indexOf(renderAllowRule(prefix)) + 1 };
  };
}
