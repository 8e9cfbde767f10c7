import { MAX_SCOPES } from "../limits.js";

/** The action of a scope: serve an environment as its executor, or use it as a harness. */
export type Action = "register" | "connect";

/** A permission of a principal. */
export type Scope = { kind: "environment"; pattern: string; actions: readonly Action[] } | { kind: "metrics" };

const SCOPE = /^environment:([A-Za-z0-9_-]*\*?):(register|connect|register\|connect|connect\|register)$/;

/**
 * Parses `environment:ID:register`, `environment:ID:connect`, `environment:ID:register|connect` or `metrics`. `*` at the end of
 * an id matches any suffix. Undefined for anything else.
 */
export function parseScope(text: string): Scope | undefined {
  if (text === "metrics") return { kind: "metrics" };
  const [, pattern, actions] = SCOPE.exec(text) ?? [];
  if (!pattern || actions === undefined) return undefined;
  // The pattern matches only these words.
  return { kind: "environment", pattern, actions: actions.split("|") as Action[] };
}

/** Parses scopes, ignoring unrelated ones of the same issuer. Reads at most `MAX_SCOPES`. */
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
