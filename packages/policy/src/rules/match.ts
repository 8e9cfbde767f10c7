import { posix } from "node:path";
import { foldCase } from "@codex/exec-gate";
import { normalizePath } from "./normalize-path.js";
import type { RulePolicy } from "./policy.js";
import type { PrefixRule } from "./rule.js";

export interface MatchOptions {
  /** An absolute (or, with `cwd`, relative) program path also matches rules for its last component. */
  readonly resolveHostExecutables?: boolean;
  /** Absolute; what a relative program path is resolved against. */
  readonly cwd?: string;
}

/** A rule that applies to a command. */
export interface PrefixMatch {
  readonly rule: PrefixRule;
  /** The tokens of the command that the pattern covers. */
  readonly matchedPrefix: readonly string[];
  /** The path that was resolved to match; undefined when the command matches as it is written. */
  readonly resolvedProgram: string | undefined;
}

/**
 * Every rule that applies, exact rules before canonical ones, each in the order of declaration. Rules for the name of
 * a program are looked up only when none applies to the command as it is written.
 */
export function findMatches(policy: RulePolicy, argv: readonly string[], options: MatchOptions = {}): PrefixMatch[] {
  const [program] = argv;
  if (program === undefined) return [];
  const written = matchTokens(policy, argv, undefined);
  if (written.length > 0 || options.resolveHostExecutables !== true) return written;
  const path = resolveProgram(program, options.cwd);
  if (path === undefined) return [];
  const name = posix.basename(path);
  return matchTokens(policy, [name, ...argv.slice(1)], path).filter(({ rule }) =>
    [name, rule.first].every((declared) => policy.hostExecutables.get(declared)?.includes(path) ?? true),
  );
}

/** Absolute and without `.`, `..` and doubled slashes; undefined for the root and for what cannot be resolved. */
function resolveProgram(program: string, cwd: string | undefined): string | undefined {
  if (program === "") return undefined;
  if (!posix.isAbsolute(program) && cwd === undefined) return undefined;
  const path = normalizePath(posix.isAbsolute(program) ? program : posix.join(cwd ?? "/", program));
  return path === "/" ? undefined : path;
}

function matchTokens(
  policy: RulePolicy,
  tokens: readonly string[],
  resolvedProgram: string | undefined,
): PrefixMatch[] {
  const [first = ""] = tokens;
  const exact = policy.byFirst.get(first) ?? [];
  const canonical = policy.byFoldedFirst.size === 0 ? [] : (policy.byFoldedFirst.get(foldCase(first)) ?? []);
  return [...exact, ...canonical]
    .filter((rule) => isPrefixOf(rule, tokens))
    .map((rule) => ({ rule, matchedPrefix: tokens.slice(0, rule.rest.length + 1), resolvedProgram }));
}

/** The first token is known to match. */
function isPrefixOf(rule: PrefixRule, tokens: readonly string[]): boolean {
  if (tokens.length <= rule.rest.length || (rule.whole && tokens.length > rule.rest.length + 1)) return false;
  return rule.rest.every((alternatives, index) => {
    const token = tokens[index + 1] ?? "";
    if (!rule.canonicalMatching) return alternatives.includes(token);
    return alternatives.some((alternative) => foldCase(alternative) === foldCase(token));
  });
}
