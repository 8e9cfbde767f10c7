import { MAX_SCOPES } from "../limits.js";

/** What a scope allows: to serve an environment as its executor, or to use it as a harness. */
export type Action = "register" | "connect";

/** One thing that a principal may do. */
export type Scope = { kind: "environment"; pattern: string; actions: readonly Action[] } | { kind: "metrics" };

const SCOPE = /^environment:([A-Za-z0-9_-]*\*?):(register|connect|register\|connect|connect\|register)$/;

/**
 * Parses `environment:ID:register`, `environment:ID:connect`, `environment:ID:register|connect` or `metrics`. `*` at the end of
 * an id stands for anything. Undefined for any other word.
 */
export function parseScope(text: string): Scope | undefined {
  if (text === "metrics") return { kind: "metrics" };
  const [, pattern, actions] = SCOPE.exec(text) ?? [];
  if (!pattern || actions === undefined) return undefined;
  // The pattern admits no other words.
  return { kind: "environment", pattern, actions: actions.split("|") as Action[] };
}

/** The scopes among words that may be other scopes of the same issuer, which are left out. At most `MAX_SCOPES` are read. */
export const pickScopes = (words: readonly string[]): Scope[] =>
  words.slice(0, MAX_SCOPES).flatMap((word) => parseScope(word) ?? []);

/** Whether one of the scopes allows the action on the environment. */
export const allows = (scopes: readonly Scope[], environmentId: string, action: Action): boolean =>
  scopes.some(
    (scope) =>
      scope.kind === "environment" && scope.actions.includes(action) && matchesPattern(scope.pattern, environmentId),
  );

const matchesPattern = (pattern: string, id: string): boolean =>
  pattern.endsWith("*") ? id.startsWith(pattern.slice(0, -1)) : id === pattern;
