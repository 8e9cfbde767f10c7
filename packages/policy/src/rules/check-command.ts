import { defined } from "@codex/values";
import { isAffected } from "./affected-programs.js";
import { findMatches, type MatchOptions, type PrefixMatch } from "./match.js";
import type { BrokenRuleFile, RulePolicy } from "./policy.js";
import { type Decision, getStrictest } from "./rule.js";

/** What `codex execpolicy check` prints. */
export interface CheckResult {
  readonly matchedRules: readonly MatchedRule[];
  /** The strictest of all matches; missing when nothing matches. */
  readonly decision?: Decision;
}

type MatchedRule =
  | { readonly prefixRuleMatch: PrefixRuleMatch }
  /** The file does not load and may have meant to restrict this command. */
  | { readonly brokenFileMatch: { readonly file: string; readonly decision: "prompt"; readonly error: string } };

interface PrefixRuleMatch {
  readonly matchedPrefix: readonly string[];
  readonly decision: Decision;
  readonly resolvedProgram?: string;
  readonly justification?: string;
}

/** Evaluates the rules for one command. Pure: the same arguments give the same result. */
export function checkCommand(policy: RulePolicy, argv: readonly string[], options: MatchOptions = {}): CheckResult {
  const matches = findMatches(policy, argv, options);
  const broken = policy.broken.filter(({ affectedPrograms }) => isAffected(affectedPrograms, argv));
  const decision = getStrictest([...matches.map(({ rule }) => rule.decision), ...broken.map(() => "prompt" as const)]);
  const matchedRules = [...matches.map(renderMatch), ...broken.map(renderBroken)];
  return decision === undefined ? { matchedRules } : { matchedRules, decision };
}

function renderMatch({ rule, matchedPrefix, resolvedProgram }: PrefixMatch): MatchedRule {
  const { decision, justification } = rule;
  return {
    prefixRuleMatch: {
      matchedPrefix,
      decision,
      ...defined({ resolvedProgram, justification }),
    },
  };
}

function renderBroken({ file, message }: BrokenRuleFile): MatchedRule {
  return { brokenFileMatch: { file, decision: "prompt", error: message } };
}
