import type { EnvPolicy } from "@codex/executor-protocol";

/**
 * The environment of a process. Without a policy it is `overlay` alone. With one, the policy filters the host's environment
 * in this order: inherit, default excludes, `exclude`, `set`, `includeOnly`; then `overlay` is merged over the result.
 * Patterns are case-insensitive globs of `*` and `?`.
 */
export function createEnvironment(
  policy: EnvPolicy | undefined,
  own: Readonly<Record<string, string | undefined>>,
  overlay: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const environment = new Map(policy === undefined ? [] : applyPolicy(policy, own));
  for (const [name, value] of Object.entries(overlay)) environment.set(name, value);
  for (const name of NEVER_PASSED) environment.delete(name);
  return Object.fromEntries(environment);
}

/** A variable of the host that a policy removes, and the pattern or member of the policy that removes it. */
export interface RemovedVariable {
  name: string;
  by: string;
}

/** The variables of the host that a policy removes, sorted by name; never their values. */
export function listRemoved(
  { inherit, ignoreDefaultExcludes, exclude, set, includeOnly }: EnvPolicy,
  own: Readonly<Record<string, string | undefined>>,
): RemovedVariable[] {
  const excluded = [...(ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...exclude];
  const reasonFor = (name: string): string | undefined => {
    if (NEVER_PASSED.includes(name)) return "always";
    if (includeOnly.length > 0 && !matchesAny(name, includeOnly)) return "includeOnly";
    if (Object.hasOwn(set, name)) return undefined;
    if (!isInherited(name, inherit)) return `inherit = ${inherit}`;
    return excluded.find((pattern) => matchesAny(name, [pattern]));
  };
  const names = Object.keys(own).filter((name) => own[name] !== undefined);
  return names.sort().flatMap((name) => {
    const by = reasonFor(name);
    return by === undefined ? [] : [{ name, by }];
  });
}

/**
 * Whether the policy determines a variable: it sets or removes it. Other sources of variables, such as the startup files of a
 * shell, must not change those.
 */
export function isDecided(
  policy: EnvPolicy | undefined,
  overlay: Readonly<Record<string, string>>,
  name: string,
): boolean {
  if (NEVER_PASSED.includes(name)) return true;
  if (policy === undefined) return false;
  const { ignoreDefaultExcludes, exclude, set, includeOnly } = policy;
  if (Object.hasOwn(overlay, name) || Object.hasOwn(set, name)) return true;
  if (matchesAny(name, [...(ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...exclude])) return true;
  return includeOnly.length > 0 && !matchesAny(name, includeOnly);
}

/** Settings of the server itself; no process gets them, even when a client sets them. */
export const NEVER_PASSED: readonly string[] = [
  "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
  "CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE",
];

/** What `inherit: "core"` keeps. */
export const CORE_NAMES: readonly string[] = [
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
];

/** Names that look like secrets. */
export const DEFAULT_EXCLUDES: readonly string[] = ["*KEY*", "*SECRET*", "*TOKEN*"];

function applyPolicy(
  { inherit, ignoreDefaultExcludes, exclude, set, includeOnly }: EnvPolicy,
  own: Readonly<Record<string, string | undefined>>,
): [string, string][] {
  const excluded = [...(ignoreDefaultExcludes ? [] : DEFAULT_EXCLUDES), ...exclude];
  const made = new Map<string, string>();
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && isInherited(name, inherit) && !matchesAny(name, excluded)) made.set(name, value);
  }
  for (const [name, value] of Object.entries(set)) made.set(name, value);
  return [...made].filter(([name]) => includeOnly.length === 0 || matchesAny(name, includeOnly));
}

function isInherited(name: string, inherit: EnvPolicy["inherit"]): boolean {
  return inherit === "all" || (inherit === "core" && CORE_NAMES.includes(name.toUpperCase()));
}

const matchesAny = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((pattern) => matchesGlob([...name.toLowerCase()], [...pattern.toLowerCase()]));

/** Backtracks to the last `*` only: at most `name.length * pattern.length` steps. */
function matchesGlob(name: readonly string[], pattern: readonly string[]): boolean {
  let at = 0;
  let next = 0;
  let star = -1;
  let resume = 0;
  while (at < name.length) {
    if (pattern[next] === "*") {
      star = next;
      resume = at;
      next += 1;
    } else if (pattern[next] === "?" || pattern[next] === name[at]) {
      at += 1;
      next += 1;
    } else if (star >= 0) {
      resume += 1;
      at = resume;
      next = star + 1;
    } else {
      return false;
    }
  }
  return pattern.slice(next).every((character) => character === "*");
}
