import { foldCase } from "@codex/exec-gate";
import type { AffectedPrograms } from "./affected-programs.js";
import type { HostExecutable, NetworkRule, PrefixRule } from "./rule.js";

/** What one file declares. */
export interface RuleFile {
  readonly rules: readonly PrefixRule[];
  readonly hostExecutables: readonly HostExecutable[];
  readonly networkRules: readonly NetworkRule[];
}

/** A file that does not load. What it may have forbidden needs approval. */
export interface BrokenRuleFile {
  readonly file: string;
  /** For the user; names the file and, where there is one, the line. */
  readonly message: string;
  readonly affectedPrograms: AffectedPrograms;
}

/** Rules indexed for lookup. Created by `createRulePolicy`, immutable. */
export interface RulePolicy {
  readonly rules: readonly PrefixRule[];
  readonly networkRules: readonly NetworkRule[];
  readonly broken: readonly BrokenRuleFile[];
  readonly byFirst: ReadonlyMap<string, readonly PrefixRule[]>;
  readonly byFoldedFirst: ReadonlyMap<string, readonly PrefixRule[]>;
  /** A later declaration of a name replaces an earlier one. */
  readonly hostExecutables: ReadonlyMap<string, readonly string[]>;
}

/** Creates the policy of files in their order: lower layers first, then by name. */
export function createRulePolicy(files: readonly RuleFile[], broken: readonly BrokenRuleFile[] = []): RulePolicy {
  const rules = files.flatMap((file) => file.rules);
  const exact = rules.filter((rule) => !rule.canonicalMatching);
  const canonical = rules.filter((rule) => rule.canonicalMatching);
  return {
    rules,
    networkRules: files.flatMap((file) => file.networkRules),
    broken,
    byFirst: groupRules(exact, (rule) => rule.first),
    byFoldedFirst: groupRules(canonical, (rule) => foldCase(rule.first)),
    hostExecutables: new Map(files.flatMap((file) => file.hostExecutables.map(({ name, paths }) => [name, paths]))),
  };
}

/** Returns the policy with one more rule, such as one that is only being considered. */
export function addRule(policy: RulePolicy, rule: PrefixRule): RulePolicy {
  const executables = [...policy.hostExecutables].map(([name, paths]) => ({ name, paths }));
  const file = { rules: [...policy.rules, rule], hostExecutables: executables, networkRules: policy.networkRules };
  return createRulePolicy([file], policy.broken);
}

function groupRules(rules: readonly PrefixRule[], getKey: (rule: PrefixRule) => string): Map<string, PrefixRule[]> {
  const groups = new Map<string, PrefixRule[]>();
  for (const rule of rules) {
    const group = groups.get(getKey(rule));
    if (group === undefined) groups.set(getKey(rule), [rule]);
    else group.push(rule);
  }
  return groups;
}
