import { findPrefixBan } from "@codex/policy";

/**
 * Why a rule that allows everything with this prefix is not saved with an approval: it leaves open what is run, or it
 * has nothing to do with what was approved. Undefined when it may be.
 */
export function findRuleProblem(
  prefix: readonly string[],
  plainCommands: readonly (readonly string[])[],
): string | undefined {
  const ban = findPrefixBan(prefix);
  if (ban !== undefined) return ban;
  const matches = plainCommands.some((words) => prefix.every((word, index) => words[index] === word));
  return matches
    ? undefined
    : `no command of the call begins with ${prefix.map((word) => JSON.stringify(word)).join(" ")}`;
}
