import { findPrefixBan, isSavedAsPrefix } from "@codex/policy";

/**
 * Why a rule is not saved with an approval: it leaves open what is run, or it has nothing to do with what was approved. Undefined when it
 * may be.
 */
export function findRuleProblem(
  prefix: readonly string[],
  plainCommands: readonly (readonly string[])[],
): string | undefined {
  const ban = findPrefixBan(prefix);
  if (ban !== undefined) return ban;
  const shown = prefix.map((word) => JSON.stringify(word)).join(" ");
  const matches = plainCommands.filter((words) => prefix.every((word, index) => words[index] === word));
  if (matches.length === 0) return `no command of the call begins with ${shown}`;
  const isWhole = matches.some((words) => words.length === prefix.length);
  return isSavedAsPrefix(prefix) || isWhole
    ? undefined
    : `what follows ${shown} may say what else is run: only a whole command of the call can be saved`;
}
