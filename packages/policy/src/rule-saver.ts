import { readFile } from "node:fs/promises";
import type { SaveRule } from "./rule-book.js";
import { renderAllowRule, saveAllowRule } from "./rules/save-rule.js";

/** Saves to this file, which is made when it is missing. */
export function createRuleSaver(file: string): SaveRule {
  return async (prefix) => {
    await saveAllowRule(file, prefix);
    const lines = (await readFile(file, "utf8")).split(/\r?\n/);
    return { file, line: lines.indexOf(renderAllowRule(prefix)) + 1 };
  };
}
