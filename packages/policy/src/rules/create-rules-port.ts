import type { OutsideProfile } from "@codex/exec-gate";
import { quoteString } from "@codex/starlark";
import { defined } from "@codex/values";
import type { RuleMatch, RulesPort } from "../rules-port.js";
import { isAffected } from "./affected-programs.js";
import { findMatches, type MatchOptions, type PrefixMatch } from "./match.js";
import { type BrokenRuleFile, createRulePolicy, type RulePolicy } from "./policy.js";

/** Adapts rules to the interface with which requirements are evaluated. */
export function createRulesPort(policy: RulePolicy, options: MatchOptions = {}): RulesPort {
  const beginnings = new Map<number, RulePolicy>();
  return {
    matchLonger(words) {
      const cut = beginnings.get(words.length) ?? cutRules(policy, words.length);
      beginnings.set(words.length, cut);
      return findMatches(cut, words, options).map(renderMatch);
    },
    restricts: policy.broken.length > 0 || policy.rules.some(({ decision }) => decision !== "allow"),
    match: (command) => [
      ...findMatches(policy, command, options).map(renderMatch),
      ...policy.broken.filter(({ affectedPrograms }) => isAffected(affectedPrograms, command)).map(renderBroken),
    ],
  };
}

/** The rules that restrict commands of more than `length` words, cut to this length. */
function cutRules(policy: RulePolicy, length: number): RulePolicy {
  const rules = policy.rules
    .filter(({ decision, rest }) => decision !== "allow" && rest.length >= length)
    .map((rule) => ({ ...rule, rest: rule.rest.slice(0, length - 1), whole: false }));
  const hostExecutables = [...policy.hostExecutables].map(([name, paths]) => ({ name, paths }));
  return createRulePolicy([{ rules, hostExecutables, networkRules: [] }]);
}

function renderMatch({ rule, matchedPrefix }: PrefixMatch): RuleMatch {
  const { decision, justification, outside, origin } = rule;
  // What leaves the sandbox by itself where it starts does not take its command with it.
  const sandbox = isNarrow(outside) ? "keep" : rule.sandbox;
  return {
    decision,
    rule: `[${matchedPrefix.map(quoteString).join(", ")}] (${origin.file}:${origin.line})`,
    ...defined({ justification, sandbox, outside }),
  };
}

const isNarrow = (outside: OutsideProfile | undefined): boolean => outside !== undefined && outside !== "unrestricted";

function renderBroken({ file, message }: BrokenRuleFile): RuleMatch {
  return { decision: "prompt", rule: `file ${file}`, justification: `it does not load: ${message}` };
}
