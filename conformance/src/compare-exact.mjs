import { compareMessages } from "./messages.mjs";
import { show } from "./values.mjs";

/**
 * Expects the same messages in the same order.
 * @param {import("./messages.mjs").Message[]} expected
 * @param {import("./messages.mjs").Message[]} actual
 * @param {import("./messages.mjs").Rules} rules
 * @returns {import("./messages.mjs").Finding | undefined} the first difference
 */
export function compareExact(expected, actual, rules) {
  for (const [index, wanted] of expected.entries()) {
    const number = index + 1;
    if (index >= actual.length) return { kind: "open", text: `message ${number} is missing: expected ${show(wanted)}` };
    const problem = compareMessages(wanted, actual[index], rules);
    if (problem !== undefined) return { kind: "final", text: `message ${number}: ${problem}` };
  }
  if (actual.length === expected.length) return undefined;
  const extra = actual[expected.length];
  return { kind: "final", text: `message ${expected.length + 1} is one too many: ${show(extra)}` };
}
