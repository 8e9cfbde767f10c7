import {
  type GateRule,
  type HostExecutable,
  MAX_APPROVED_CHARACTERS,
  MAX_APPROVED_PROGRAMS,
  MAX_GATE_CHARACTERS,
  MAX_GATE_RULES,
  type Place,
} from "@codex/exec-gate";
import { quoteString } from "@codex/starlark";
import { type ApprovalPolicy, refusingPolicy } from "./approval-policy.js";
import { DANGEROUS_COMMANDS, type DangerousEntry } from "./dangerous.js";
import { programName } from "./programs.js";
import type { BrokenRuleFile, RulePolicy } from "./rules/policy.js";
import type { Decision, PrefixRule, RuleOrigin } from "./rules/rule.js";
import { findPrefixBan } from "./rules/saved-rules.js";

/** Rules as the gate of an executor enforces them, with what a person is shown of each. */
export interface RulesForGate {
  readonly rules: readonly GateRule[];
  readonly hostExecutables: readonly HostExecutable[];
  /** By the id of the rule. */
  readonly sources: ReadonlyMap<string, RuleSource>;
  /** Rules that ask or forbid and are not among `rules`: only the text of a command shows what they are about. */
  readonly unheld: readonly RuleSource[];
}

/** A rule as a person reads it. */
export interface RuleSource {
  /** Its pattern with file and line, or the file that does not load. */
  readonly rule: string;
  readonly origin: RuleOrigin | undefined;
  /** Why it was made. */
  readonly justification: string | undefined;
  /** Why a program that it asks about is refused instead. */
  readonly refusing: string | undefined;
}

/**
 * Compiles rules for programs that a command starts. Those that forbid come first, so that a limit leaves out the most
 * lenient. What a broken file may have forbidden is asked about. Pure.
 */
export function compileForGate(policy: RulePolicy, approvalPolicy: ApprovalPolicy): RulesForGate {
  const never = refusingPolicy(approvalPolicy, "rules");
  const refusing = never === undefined ? undefined : `approval policy ${never} does not ask`;
  const found = [
    ...policy.broken.flatMap((file) => compileBroken(file, refusing)),
    ...groupRules(policy.rules).map((rules) => compileRule(rules, refusing)),
  ].sort((a, b) => STRICTEST_FIRST.indexOf(a.decision) - STRICTEST_FIRST.indexOf(b.decision));
  const { held, left } = takeWithinLimits(found);
  const numbered = held.map((each, index) => ({ ...each, id: String(index + 1) }));
  return {
    rules: numbered.map(({ source: _, ...rule }) => rule),
    hostExecutables: [...policy.hostExecutables].map(([name, paths]) => ({ name, paths: [...paths] })),
    sources: new Map(numbered.map(({ id, source }) => [id, source])),
    unheld: left.filter(({ decision }) => decision !== "allow").map(({ source }) => source),
  };
}

/** The dangerous commands as rules. */
export function compileDangerous(approvalPolicy: ApprovalPolicy): GateRule[] {
  const decision = refusingPolicy(approvalPolicy, "sandboxApproval") === undefined ? "ask" : "refuse";
  return DANGEROUS_COMMANDS.map((entry) => ({
    id: idOf(entry),
    pattern: [[entry.program]],
    option: entry.option,
    unlessAllowed: true,
    decision,
    place: { kind: "inside" },
  }));
}

/** The dangerous command that a rule of the gate stands for. */
export const findDangerous = (id: string): DangerousEntry | undefined =>
  DANGEROUS_COMMANDS.find((entry) => idOf(entry) === id);

const idOf = ({ name, what }: DangerousEntry): string => `${name} of the dangerous commands: ${what}`;

/** Whether a rule may be about one of the dangerous commands. */
export const namesDangerous = ({ pattern: [programs = []] }: GateRule): boolean =>
  DANGEROUS_COMMANDS.some((entry) => programs.some((program) => programName(program) === entry.program));

/** As many approved programs as a gate takes; others are asked about where they start. */
export function selectApproved(commands: readonly (readonly string[])[]): readonly (readonly string[])[] {
  let characters = 0;
  return commands.slice(0, MAX_APPROVED_PROGRAMS).filter((words) => {
    const size = words.reduce((sum, word) => sum + word.length, 0);
    const fits = words.length > 0 && characters + size <= MAX_APPROVED_CHARACTERS;
    if (fits) characters += size;
    return fits;
  });
}

/** A rule that has no id yet. */
type Compiled = Omit<GateRule, "id"> & { source: RuleSource };

const STRICTEST_FIRST: readonly GateRule["decision"][] = ["refuse", "ask", "allow"];

const DECISIONS = { allow: "allow", prompt: "ask", forbidden: "refuse" } as const satisfies Record<
  Decision,
  GateRule["decision"]
>;

/** The programs of one declaration are alternatives of its first word. */
function groupRules(rules: readonly PrefixRule[]): [PrefixRule, ...PrefixRule[]][] {
  const groups = new Map<unknown, [PrefixRule, ...PrefixRule[]]>();
  for (const rule of rules) {
    const group = groups.get(rule.rest);
    if (group === undefined) groups.set(rule.rest, [rule]);
    else group.push(rule);
  }
  return [...groups.values()];
}

function compileRule(rules: readonly [PrefixRule, ...PrefixRule[]], refusing: string | undefined): Compiled {
  const [rule] = rules;
  const { rest, decision, whole, canonicalMatching, origin, justification } = rule;
  const pattern = [rules.map(({ first }) => first), ...rest];
  const asked = decision === "prompt" ? refusing : undefined;
  return {
    pattern,
    ...(whole ? { whole } : {}),
    ...(canonicalMatching ? { canonical: true } : {}),
    decision: asked === undefined ? DECISIONS[decision] : "refuse",
    place: findPlace(rules),
    ...(rule.env.length > 0 ? { env: rule.env } : {}),
    source: {
      rule: `[${pattern.map(renderWord).join(", ")}] (${origin.file}:${origin.line})`,
      origin,
      justification,
      refusing: asked,
    },
  };
}

/** A rule for a program that runs others, such as a shell, is a rule for everything: it leaves the sandbox only where it says so itself. */
function findPlace(rules: readonly [PrefixRule, ...PrefixRule[]]): Place {
  const [{ rest, decision, sandbox, outside }] = rules;
  if (outside !== undefined) return { kind: "outside", profile: outside };
  if (decision !== "allow" || sandbox === "keep") return INSIDE;
  const [second = [], ...others] = rest;
  const further = others.map(([word = ""]) => word);
  const prefixes = rules.flatMap(({ first }) =>
    second.length === 0 ? [[first]] : second.map((word) => [first, word, ...further]),
  );
  return prefixes.some((words) => findPrefixBan(words) !== undefined) ? INSIDE : UNRESTRICTED;
}

const INSIDE = { kind: "inside" } as const;
/** What a rule file of Codex means by `allow`. */
const UNRESTRICTED = { kind: "outside", profile: "unrestricted" } as const;

const renderWord = (alternatives: readonly string[]): string => {
  const words = alternatives.map(quoteString).join(", ");
  return alternatives.length === 1 ? words : `[${words}]`;
};

/** A file that may have forbidden everything is asked about with every command, before it starts. */
function compileBroken({ file, message, affectedPrograms }: BrokenRuleFile, refusing: string | undefined): Compiled[] {
  if (affectedPrograms === "everything" || affectedPrograms.size === 0) return [];
  return [
    {
      pattern: [[...affectedPrograms]],
      canonical: true,
      decision: refusing === undefined ? "ask" : "refuse",
      place: { kind: "inside" },
      source: { rule: `file ${file}`, origin: undefined, justification: `it does not load: ${message}`, refusing },
    },
  ];
}

function takeWithinLimits(rules: readonly Compiled[]): { held: Compiled[]; left: Compiled[] } {
  let characters = 0;
  const held: Compiled[] = [];
  const left: Compiled[] = [];
  for (const rule of rules) {
    const size = rule.pattern.flat().reduce((sum, word) => sum + word.length, 0);
    const fits = held.length < MAX_GATE_RULES && characters + size <= MAX_GATE_CHARACTERS;
    (fits ? held : left).push(rule);
    if (fits) characters += size;
  }
  return { held, left };
}
