import { foldCase } from "./fold-case.js";
import { MAX_APPROVED_CHARACTERS, MAX_APPROVED_PROGRAMS, MAX_GATE_CHARACTERS, MAX_GATE_RULES } from "./limits.js";

/** Where an allowed program runs: in the command's sandbox, or outside of it. */
export type Place = { kind: "inside" } | { kind: "outside"; profile: OutsideProfile };

/**
 * What a program outside may do. `network`: what its command's sandbox allows, and the network. `write`: the same, and writing below these
 * absolute paths. `unrestricted`: everything, and its own programs are not judged.
 */
export type OutsideProfile = "network" | "unrestricted" | { write: readonly string[] };

/** Applies to every program that starts with its words. */
export interface GateRule {
  /** Names the rule in decisions. Unique. */
  id: string;
  /** Alternatives for each word. Those of the first are names of programs, or paths. At least one word. */
  pattern: readonly (readonly string[])[];
  /** Applies only to a program without further words. */
  whole?: boolean | undefined;
  /** Words are compared without regard to case and Unicode composition. */
  canonical?: boolean | undefined;
  /** Applies only to a program that has this option. */
  option?: OptionName | undefined;
  /** Applies only to a program that no rule allows. */
  unlessAllowed?: boolean | undefined;
  decision: "allow" | "ask" | "refuse";
  /** Where the program runs once it is allowed, or an answer has allowed it. */
  place: Place;
  /** Names of variables that the program gets from its caller where it runs outside; `*` at the end stands for the rest. */
  env?: readonly string[] | undefined;
}

/** An option by its letter, alone or in a cluster, and by its name, which may be abbreviated. */
export interface OptionName {
  letter: string;
  name: string;
}

/** The paths at which a program of this name may be allowed; it is refused, or asked about, at any path. */
export interface HostExecutable {
  name: string;
  paths: readonly string[];
}

/** What a gate enforces, as it travels with a command. */
export interface GateRules {
  rules: readonly GateRule[];
  hostExecutables: readonly HostExecutable[];
  /** Programs that were approved with the command, by all of their words: a rule that asks does not ask about them again. */
  approved: readonly (readonly string[])[];
}

/** Rules that the gate can look up. */
export interface CompiledGate {
  /** By each alternative of the first word. */
  byProgram: ReadonlyMap<string, readonly GateRule[]>;
  /** The same for canonical rules, as `foldCase` returns the word. */
  byFoldedProgram: ReadonlyMap<string, readonly GateRule[]>;
  paths: ReadonlyMap<string, ReadonlySet<string>>;
  /** By the first word. */
  approved: ReadonlyMap<string, readonly (readonly string[])[]>;
  /** Whether a rule refuses or asks: what runs must then be what was judged. */
  restricts: boolean;
}

/** Rules of a gate are unusable. The message names the rule and the limit. */
export class GateRuleError extends Error {
  override readonly name = "GateRuleError";
}

/** @throws {GateRuleError} if there are too many rules, or one has no words */
export function compileGate({ rules, hostExecutables, approved }: GateRules): CompiledGate {
  checkLimits(rules, approved);
  const exact = rules.filter(({ canonical }) => canonical !== true);
  const canonical = rules.filter((rule) => rule.canonical === true);
  return {
    byProgram: groupRules(exact, (program) => program),
    byFoldedProgram: groupRules(canonical, foldCase),
    paths: new Map(hostExecutables.map(({ name, paths }) => [name, new Set(paths)])),
    approved: groupBy(approved, ([program]) => (program === undefined ? [] : [program])),
    restricts: rules.some(({ decision }) => decision !== "allow"),
  };
}

function checkLimits(rules: readonly GateRule[], approved: GateRules["approved"]): void {
  checkLimit(rules.length, MAX_GATE_RULES, "rules of programs");
  checkLimit(
    countCharacters(rules.flatMap(({ pattern }) => pattern.flat())),
    MAX_GATE_CHARACTERS,
    "characters in rules of programs",
  );
  checkLimit(approved.length, MAX_APPROVED_PROGRAMS, "approved programs");
  checkLimit(countCharacters(approved.flat()), MAX_APPROVED_CHARACTERS, "characters in approved programs");
  for (const { id, pattern } of rules) {
    if (pattern.length === 0 || pattern.some((alternatives) => alternatives.length === 0)) {
      throw new GateRuleError(`the rule ${id} has a word without alternatives`);
    }
  }
}

function checkLimit(count: number, most: number, what: string): void {
  if (count > most) throw new GateRuleError(`${count} ${what}; at most ${most} are allowed`);
}

const countCharacters = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.length, 0);

const groupRules = (rules: readonly GateRule[], toKey: (program: string) => string) =>
  groupBy(rules, ({ pattern: [programs = []] }) => programs.map(toKey));

function groupBy<Item>(items: readonly Item[], getKeys: (item: Item) => readonly string[]): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    for (const key of new Set(getKeys(item))) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [item]);
      else group.push(item);
    }
  }
  return groups;
}
