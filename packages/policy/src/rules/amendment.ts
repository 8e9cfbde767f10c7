import { type AllowRule, isSavedAsPrefix } from "./allow-rule.js";
import { checkCommand } from "./check-command.js";
import { findMatches, type MatchOptions } from "./match.js";
import { addRule, type RulePolicy } from "./policy.js";
import type { PrefixRule, RuleOrigin } from "./rule.js";
import { findPrefixBan } from "./saved-rules.js";

export interface AmendmentRequest {
  readonly policy: RulePolicy;
  /** The plain commands of the call; none when it cannot be split, or no rule is to be offered. */
  readonly commands: readonly (readonly string[])[];
  /** The prefix that the model suggests. */
  readonly suggested?: readonly string[] | undefined;
  /** The first command that needs approval. */
  readonly asking?: readonly string[] | undefined;
  readonly match?: MatchOptions;
}

/**
 * The prefix, or the whole command, to offer as a rule that allows: the suggestion of the model if it alone would allow every command, else
 * the command that needs approval. Undefined when neither helps, such as when a rule requires the approval.
 */
export function proposeAmendment(request: AmendmentRequest): readonly string[] | undefined {
  const { suggested, asking } = request;
  if (suggested !== undefined && isUsable(suggested, request) && allowsAll(suggested, request)) return suggested;
  return asking !== undefined && isUsable(asking, request) && isUnruled(asking, request) ? asking : undefined;
}

function isUsable(prefix: readonly string[], { commands }: AmendmentRequest): boolean {
  return commands.length > 0 && findPrefixBan(prefix) === undefined;
}

function allowsAll(prefix: readonly string[], { policy, commands, match }: AmendmentRequest): boolean {
  const amended = addRule(policy, createAllowRule({ words: prefix, keepsSandbox: false }, { file: "", line: 0 }));
  return commands.every((command) => checkCommand(amended, command, match).decision === "allow");
}

/** Whether no rule decides about the command: a further rule that allows would not override one that asks or forbids. */
function isUnruled(command: readonly string[], { policy, match }: AmendmentRequest): boolean {
  return (
    findMatches(policy, command, match).length === 0 && checkCommand(policy, command, match).decision === undefined
  );
}

/** The rule as it is once it was saved. */
export function createAllowRule({ words, keepsSandbox }: AllowRule, origin: RuleOrigin): PrefixRule {
  const [first = "", ...rest] = words;
  return {
    first,
    whole: !isSavedAsPrefix(words),
    rest: rest.map((token) => [token]),
    canonicalMatching: false,
    decision: "allow",
    justification: undefined,
    sandbox: keepsSandbox ? "keep" : undefined,
    outside: undefined,
    env: [],
    origin,
  };
}
