import { compareMessages, isAnswer } from "./messages.mjs";
import { checkRead, isReadResult } from "./read-results.mjs";
import { compareBodies, compareProcesses, isBodyDelta, isProcessEvent } from "./streams.mjs";
import { isObject, show } from "./values.mjs";

/**
 * Compares responses by id, notifications of one process by seq with adjacent output joined, and everything else in order.
 * @param {import("./messages.mjs").Message[]} expected of one connection
 * @param {import("./messages.mjs").Message[]} actual of the same connection
 * @param {import("./messages.mjs").Rules} rules
 * @param {{ expected: import("./read-results.mjs").Outputs, actual: import("./read-results.mjs").Outputs }} outputs
 *   chunks of each process seen on any connection
 * @returns {import("./messages.mjs").Finding | undefined} the first difference
 */
export function compareCoalesced(expected, actual, rules, outputs) {
  const text =
    compareAnswers(expected.filter(isAnswer), actual.filter(isAnswer), rules, outputs) ??
    compareProcesses(expected.filter(isProcessEvent), actual.filter(isProcessEvent), rules) ??
    compareBodies(expected.filter(isBodyDelta), actual.filter(isBodyDelta)) ??
    compareOthers(expected.filter(isOther), actual.filter(isOther), rules);
  return text === undefined ? undefined : { kind: "open", text };
}

const isOther = (message) => !isAnswer(message) && !isProcessEvent(message) && !isBodyDelta(message);

function compareAnswers(expected, actual, rules, outputs) {
  const left = [...actual];
  for (const wanted of expected) {
    const at = left.findIndex(({ id }) => id === wanted.id);
    if (at === -1) return `no answer with id ${show(wanted.id)}: expected ${show(wanted)}`;
    const [answer] = left.splice(at, 1);
    const problem = compareAnswer(wanted, answer, rules, outputs);
    if (problem !== undefined) return `answer with id ${show(wanted.id)}: ${problem}`;
  }
  return left.length === 0 ? undefined : `an answer too many: ${show(left[0])}`;
}

function compareAnswer(wanted, answer, rules, outputs) {
  if (!isReadResult(wanted.result) || !isObject(answer.result)) return compareMessages(wanted, answer, rules);
  const request = rules.requestOf(wanted.id);
  const checked = checkRead(wanted.result, answer.result, { request, outputs });
  if ("problem" in checked) return checked.problem;
  return compareMessages({ ...wanted, result: checked.expected }, { ...answer, result: checked.actual }, rules);
}

function compareOthers(expected, actual, rules) {
  for (const [index, wanted] of expected.entries()) {
    if (index >= actual.length) return `missing: ${show(wanted)}`;
    const problem = compareMessages(wanted, actual[index], rules);
    if (problem !== undefined) return `${wanted.method}: ${problem}`;
  }
  return actual.length > expected.length ? `a message too many: ${show(actual[expected.length])}` : undefined;
}
