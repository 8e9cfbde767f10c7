import type { EnvPolicy } from "@codex/executor-protocol";

export type Environment = Record<string, string>;

/** Names that `inherit: "core"` keeps. */
const CORE_NAMES: ReadonlySet<string> = new Set([
  "HOME",
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "LOGNAME",
  "PATH",
  "SHELL",
  "TEMP",
  "TMP",
  "TMPDIR",
  "USER",
]);
const DEFAULT_EXCLUDES = ["*KEY*", "*SECRET*", "*TOKEN*"];

/**
 * The base environment that a policy makes of the executor's own: inherit, default excludes, `exclude`, `set`,
 * `includeOnly`, in this order. Patterns are globs of `*` and `?`, matched without regard to case.
 */
export function createEnvironment(policy: EnvPolicy, own: Readonly<Record<string, string | undefined>>): Environment {
  const excluded = [...(policy.ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...policy.exclude];
  const kept = Object.entries(own).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && isInherited(entry[0], policy) && !matchesAny(entry[0], excluded),
  );
  const all = [...kept, ...Object.entries(policy.set)];
  const { includeOnly } = policy;
  return Object.fromEntries(includeOnly.length === 0 ? all : all.filter(([name]) => matchesAny(name, includeOnly)));
}

const isInherited = (name: string, { inherit }: EnvPolicy): boolean =>
  inherit === "all" || (inherit === "core" && CORE_NAMES.has(name));

const matchesAny = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => matchesGlob(name.toLowerCase(), pattern.toLowerCase()));

/** Greedy, with one step back to the last `*`: a hostile pattern cannot make it slow. */
function matchesGlob(text: string, pattern: string): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let resume = 0;
  while (at < text.length) {
    if (next < pattern.length && pattern[next] === "*") {
      star = next++;
      resume = at;
    } else if (next < pattern.length && (pattern[next] === "?" || pattern[next] === text[at])) {
      at++;
      next++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[next] === "*") next++;
  return next === pattern.length;
}
