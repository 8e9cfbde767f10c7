import { realpathSync } from "node:fs";
import { isWithin } from "@codex/permissions";
import type { ApprovalPolicy } from "@codex/policy";

// How settings of a project combine with those of the user: they come with the repository, so they can only restrict.

export const onlyTrue = (base: boolean, wish: boolean): boolean => base || wish;
export const onlyFalse = (base: boolean, wish: boolean): boolean => base && wish;
export const unite = (base: string[], wish: string[]): string[] => [...new Set([...base, ...wish])];

/** Exceptions would loosen, so they are dropped. Later entries win, so entries that are present already are added again. */
export const denyMore = (base: string[], wish: string[]): string[] => [
  ...base,
  ...wish.filter((pattern) => !pattern.startsWith("!")),
];

const MODES = ["read-only", "workspace-write", "danger-full-access"] as const;
type Mode = (typeof MODES)[number];

export const narrowSandboxMode = (base: Mode, wish: Mode): Mode => least(MODES, base, wish);

const INHERITS = ["none", "core", "all"] as const;
type Inherit = (typeof INHERITS)[number];

export const narrowInherit = (base: Inherit, wish: Inherit): Inherit => least(INHERITS, base, wish);

const least = <T>(order: readonly T[], one: T, other: T): T =>
  order.indexOf(one) < order.indexOf(other) ? one : other;

/** `approval_policy` with the names of configuration files. */
export type ConfiguredApproval = Extract<ApprovalPolicy, string> | { granular: ConfiguredGranular };

interface ConfiguredGranular {
  sandbox_approval: boolean;
  rules: boolean;
}

/** `untrusted` asks most; `never` refuses what the others ask. Neither can be left for the other. */
export function narrowApproval(base: ConfiguredApproval, wish: ConfiguredApproval): ConfiguredApproval {
  if (typeof base === "object" && typeof wish === "object") return { granular: both(base.granular, wish.granular) };
  if (base === "on-failure") return wish;
  if (base === "on-request") return wish === "on-failure" ? base : wish;
  return typeof base === "object" && wish === "never" ? wish : base;
}

const both = (base: ConfiguredGranular, wish: ConfiguredGranular): ConfiguredGranular => ({
  sandbox_approval: base.sandbox_approval && wish.sandbox_approval,
  rules: base.rules && wish.rules,
});

/** Further roots, as far as they are inside the project. */
export const rootsWithin = (base: string[], wish: string[], project: string): string[] =>
  unite(
    base,
    wish.filter((root) => isReallyWithin(project, root)),
  );

/** Patterns are not compared: only a first list, or a part of it, is taken. */
export function intersectPatterns(base: string[], wish: string[]): string[] {
  if (wish.length === 0) return base;
  return base.length === 0 || wish.every((pattern) => base.includes(pattern)) ? wish : base;
}

/** With links resolved: one in a repository may lead anywhere. */
function isReallyWithin(directory: string, path: string): boolean {
  try {
    return isWithin(realpathSync(path), realpathSync(directory));
  } catch {
    return false;
  }
}
