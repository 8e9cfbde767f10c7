import { realpathSync } from "node:fs";
import { isWithin } from "@codex/permissions";
import type { ApprovalPolicy } from "@codex/policy";

// Combine settings of a project with those of the user. A project's come with the repository, so they can only restrict.

export const onlyTrue = (base: boolean, requested: boolean): boolean => base || requested;
export const onlyFalse = (base: boolean, requested: boolean): boolean => base && requested;
export const unite = (base: string[], requested: string[]): string[] => [...new Set([...base, ...requested])];

/** Exceptions (`!pattern`) would permit more, so they are dropped. Later entries win, so existing entries are appended again. */
export const denyMore = (base: string[], requested: string[]): string[] => [
  ...base,
  ...requested.filter((pattern) => !pattern.startsWith("!")),
];

/** Only hosts that are denied are added. */
export const denyHosts = <Decision extends string>(
  base: Record<string, Decision>,
  requested: Record<string, Decision>,
): Record<string, Decision> => ({
  ...base,
  ...Object.fromEntries(Object.entries(requested).filter(([, decision]) => decision === "deny")),
});

const MODES = ["read-only", "workspace-write", "danger-full-access"] as const;
type Mode = (typeof MODES)[number];

export const narrowSandboxMode = (base: Mode, requested: Mode): Mode => least(MODES, base, requested);

const INHERITS = ["none", "core", "all"] as const;
type Inherit = (typeof INHERITS)[number];

export const narrowInherit = (base: Inherit, requested: Inherit): Inherit => least(INHERITS, base, requested);

const least = <T>(order: readonly T[], one: T, other: T): T =>
  order.indexOf(one) < order.indexOf(other) ? one : other;

/** `approval_policy` with the names of configuration files. */
export type ConfiguredApproval = Extract<ApprovalPolicy, string> | { granular: ConfiguredGranular };

interface ConfiguredGranular {
  sandbox_approval: boolean;
  rules: boolean;
}

/** `untrusted` asks most often; `never` refuses where the others ask. Neither is stricter than the other, so a project cannot change them. */
export function narrowApproval(base: ConfiguredApproval, requested: ConfiguredApproval): ConfiguredApproval {
  if (typeof base === "object" && typeof requested === "object")
    return { granular: both(base.granular, requested.granular) };
  if (base === "on-failure") return requested;
  if (base === "on-request") return requested === "on-failure" ? base : requested;
  return typeof base === "object" && requested === "never" ? requested : base;
}

const both = (base: ConfiguredGranular, requested: ConfiguredGranular): ConfiguredGranular => ({
  sandbox_approval: base.sandbox_approval && requested.sandbox_approval,
  rules: base.rules && requested.rules,
});

/** Adds the requested roots that are inside the project. */
export const rootsWithin = (base: string[], requested: string[], project: string): string[] =>
  unite(
    base,
    requested.filter((root) => isReallyWithin(project, root)),
  );

/** Patterns are compared as text: the requested list is used if there was none, or if it is a subset. */
export function intersectPatterns(base: string[], requested: string[]): string[] {
  if (requested.length === 0) return base;
  return base.length === 0 || requested.every((pattern) => base.includes(pattern)) ? requested : base;
}

/** Resolves symbolic links, as one in a repository may point anywhere. */
function isReallyWithin(directory: string, path: string): boolean {
  try {
    return isWithin(realpathSync(path), realpathSync(directory));
  } catch {
    return false;
  }
}
