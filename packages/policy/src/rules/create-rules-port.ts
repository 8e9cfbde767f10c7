import { quoteString } from "@codex/starlark";
import { defined } from "@codex/values";
import type { RuleMatch, RulesPort } from "../rules-port.js";
import { isAffected } from "./affected-programs.js";
import { findMatches, type MatchOptions, type PrefixMatch } from "./match.js";
import type { BrokenRuleFile, RulePolicy } from "./policy.js";

/** Adapts rules to the interface with which requirements are evaluated. */
export function createRulesPort(policy: RulePolicy, options: MatchOptions = {}): RulesPort {
  return {
    restricts: policy.broken.length > 0 || policy.rules.some(({ decision }) => decision !== "allow"),
    match: (command) => [
      ...findMatches(policy, command, options).map(renderMatch),
      ...policy.broken.filter(({ affectedPrograms }) => isAffected(affectedPrograms, command)).map(renderBroken),
    ],
  };
}

function renderMatch({ rule, matchedPrefix }: PrefixMatch): RuleMatch {
  const { decision, justification, sandbox, origin } = rule;
  return {
    decision,
    rule: `[${matchedPrefix.map(quoteString).join(", ")}] (${origin.file}:${origin.line})`,
    ...defined({ justification, sandbox }),
  };
}

function renderBroken({ file, message }: BrokenRuleFile): RuleMatch {
  return { decision: "prompt", rule: `file ${file}`, justification: `it does not load: ${message}` };
}
