import { joinWords } from "@codex/shell-analysis";
import type { Source } from "@codex/starlark";
import { Budget, createBuiltins, createErrorAt, runProgram } from "@codex/starlark";
import { MAX_RULE_FILE_BYTES } from "./limits.js";
import { findMatches } from "./match.js";
import { createRulePolicy, type RuleFile } from "./policy.js";
import type { HostExecutable } from "./rule.js";
import { Declarations, type Examples } from "./rule-builtins.js";

/** The text of a rule file, without a byte order mark. @throws TypeError when it is not UTF-8 */
export const decodeRules = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true }).decode(bytes);

/**
 * Runs a rule file and tests its examples. `earlier` are the host executables of files before it; examples that start
 * with a path are tested with them. Throws a `StarlarkError` when anything is wrong.
 */
export function parseRuleFile(
  source: Source,
  earlier: readonly HostExecutable[] = [],
  budget = new Budget(),
): RuleFile {
  const bytes = Buffer.byteLength(source.text);
  if (bytes > MAX_RULE_FILE_BYTES) {
    throw createErrorAt(
      source,
      0,
      `the file has ${bytes} bytes, the limit is ${MAX_RULE_FILE_BYTES} bytes`,
      "Split it.",
    );
  }
  const declarations = new Declarations(source);
  const builtins = new Map([...createBuiltins(), ...declarations.createBuiltins()]);
  runProgram(source, builtins, budget);
  const { rules, hostExecutables, networkRules } = declarations;
  for (const examples of declarations.examples) testExamples(source, examples, [...earlier, ...hostExecutables]);
  return { rules, hostExecutables, networkRules };
}

/** The examples of a rule are tested against that rule alone. */
function testExamples(source: Source, examples: Examples, hostExecutables: readonly HostExecutable[]): void {
  if (examples.match.length === 0 && examples.notMatch.length === 0) return;
  const policy = createRulePolicy([{ rules: examples.rules, hostExecutables, networkRules: [] }]);
  const isMatched = (argv: readonly string[]) => findMatches(policy, argv, { resolveHostExecutables: true }).length > 0;
  const fail = (problem: string, argv: readonly string[]) => {
    throw createErrorAt(
      source,
      examples.at,
      `the example \`${joinWords(argv)}\` ${problem}`,
      "Correct the rule or the example.",
    );
  };
  for (const argv of examples.notMatch) if (isMatched(argv)) fail("in `not_match` matches this rule", argv);
  for (const argv of examples.match) if (!isMatched(argv)) fail("in `match` does not match this rule", argv);
}
