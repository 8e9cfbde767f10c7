import { MAX_GATE_RULE_CHARACTERS, MAX_GATE_RULES } from "./limits.js";

/** Where an allowed program runs: in the command's sandbox, or in the profile of this name that the command's sandbox knows. */
export type Place = { kind: "inside" } | { kind: "outside"; profile: string };

/** Applies to every program that starts with its words. */
export interface GateRule {
  /** Names the rule in decisions. Unique. */
  id: string;
  /** Alternatives for each word. Those of the first are names of programs, or absolute paths. At least one word. */
  pattern: readonly (readonly string[])[];
  decision: "allow" | "ask" | "refuse";
  /** Where the program runs once it is allowed, or an answer has allowed it. */
  place: Place;
  /** Names of variables that the program gets from its caller where it runs outside; `*` at the end stands for the rest. */
  env?: readonly string[];
}

/** The paths at which a program of this name may be allowed; it is refused, or asked about, at any path. */
export interface HostExecutable {
  name: string;
  paths: readonly string[];
}

/** Rules that the gate can look up. */
export interface CompiledGate {
  /** By each alternative of the first word. */
  byProgram: ReadonlyMap<string, readonly GateRule[]>;
  paths: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Rules of a gate are unusable. The message names the rule and the limit. */
export class GateRuleError extends Error {
  override readonly name = "GateRuleError";
}

/** @throws {GateRuleError} if there are too many rules, or one has no words */
export function compileGate(rules: readonly GateRule[], hostExecutables: readonly HostExecutable[]): CompiledGate {
  if (rules.length > MAX_GATE_RULES) {
    throw new GateRuleError(`${rules.length} rules of programs; at most ${MAX_GATE_RULES} are allowed`);
  }
  const characters = rules.flatMap(({ pattern }) => pattern.flat()).reduce((sum, word) => sum + word.length, 0);
  if (characters > MAX_GATE_RULE_CHARACTERS) {
    throw new GateRuleError(
      `rules of programs with ${characters} characters; at most ${MAX_GATE_RULE_CHARACTERS} are allowed`,
    );
  }
  const byProgram = new Map<string, GateRule[]>();
  for (const rule of rules) {
    const [programs = []] = rule.pattern;
    if (programs.length === 0 || rule.pattern.some((alternatives) => alternatives.length === 0)) {
      throw new GateRuleError(`the rule ${rule.id} has a word without alternatives`);
    }
    for (const program of new Set(programs)) byProgram.set(program, [...(byProgram.get(program) ?? []), rule]);
  }
  return { byProgram, paths: new Map(hostExecutables.map(({ name, paths }) => [name, new Set(paths)])) };
}
