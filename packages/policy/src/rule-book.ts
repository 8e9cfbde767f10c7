import { posix } from "node:path";
import type { GateRule, GateRules } from "@codex/exec-gate";
import type { Sandbox } from "@codex/executor-protocol";
import { messageOf } from "@codex/values";
import type { AnalyzedCommand } from "./analyzed-command.js";
import type { ApprovalPolicy } from "./approval-policy.js";
import {
  compileDangerous,
  compileForGate,
  findDangerous,
  namesDangerous,
  type RuleSource,
} from "./compile-for-gate.js";
import { MAX_PROPOSED_RULE_BYTES } from "./limits.js";
import { type LimitedNetwork, limitNetwork, type NetworkOptions } from "./network.js";
import { isStandardProgram } from "./programs.js";
import type { AllowHostRule, AllowRule } from "./rules/allow-rule.js";
import { createAllowRule, proposeAmendment } from "./rules/amendment.js";
import { createRulesPort } from "./rules/create-rules-port.js";
import { addRule, createRulePolicy, type RulePolicy } from "./rules/policy.js";
import type { RuleOrigin } from "./rules/rule.js";
import { findPrefixBan } from "./rules/saved-rules.js";
import type { RuleMatch, RulesPort } from "./rules-port.js";

/** Saves a rule, and resolves to its place. Rejects when it is not saved. */
export type SaveRule = (rule: AllowRule | AllowHostRule) => Promise<RuleOrigin>;

/** As `network-policy` names it. */
const HOST_LOOPBACK = "host.internal";

/** A program that waits where it starts. */
export interface AskedProgram {
  /** Its file, or the path by which it was called. */
  readonly program: string;
  readonly argv: readonly string[];
  /** Id of the rule of the gate that asks. */
  readonly rule: string;
}

/** What a gate holds besides the rules that forbid. */
export interface HeldRules {
  /** The rules that ask, for a host that can ask about a program. */
  asks: boolean;
  /** The dangerous commands, unless they were approved with the command. */
  danger: boolean;
  /** The rules that start programs outside of the sandbox of the command, which has one. */
  leaves: boolean;
}

/** The rules in force: those that were passed in, and those that were saved since. */
export class RuleBook {
  #policy: RulePolicy;
  readonly #saveRule: SaveRule | undefined;
  readonly #savedHosts = new Set<string>();
  /** Of the policy as it is, by approval policy. */
  readonly #gates = new Map<string, GateRules | undefined>();

  constructor(policy: RulePolicy | undefined, saveRule: SaveRule | undefined) {
    this.#policy = policy ?? createRulePolicy([]);
    this.#saveRule = saveRule;
  }

  get canSave(): boolean {
    return this.#saveRule !== undefined;
  }

  /** The rules for commands in this directory. */
  rulesIn(cwd: string): RulesPort {
    return createEffectiveRules(this.#policy, cwd);
  }

  /**
   * What every program that a command starts is held to: the rules that forbid, those that ask, which forbid where the policy does not let
   * anybody be asked, and those by which a program leaves its sandbox. Undefined where there are none. Ids are the rules as a person reads them.
   */
  gateFor(approvalPolicy: ApprovalPolicy, holds: HeldRules): GateRules | undefined {
    const key = JSON.stringify([approvalPolicy, holds]);
    if (!this.#gates.has(key)) this.#gates.set(key, this.#compileGate(approvalPolicy, holds));
    return this.#gates.get(key);
  }

  #compileGate(approvalPolicy: ApprovalPolicy, { asks, danger, leaves }: HeldRules): GateRules | undefined {
    const { rules, sources, hostExecutables } = compileForGate(this.#policy, approvalPolicy);
    const isNeeded = (rule: GateRule) => (leaves && rule.place.kind === "outside") || (danger && namesDangerous(rule));
    const held = rules.filter((rule) =>
      rule.decision === "allow" ? isNeeded(rule) : rule.decision === "refuse" || asks,
    );
    const dangerous = danger ? compileDangerous(approvalPolicy) : [];
    if (held.length + dangerous.length === 0) return undefined;
    const seen = new Map<string, number>();
    const named = held.map((rule): GateRule => {
      const text = describeSource(sources.get(rule.id));
      const count = (seen.get(text) ?? 0) + 1;
      seen.set(text, count);
      return { ...rule, id: count === 1 ? text : `${text} #${count}` };
    });
    return { rules: [...dangerous, ...named], hostExecutables, approved: [] };
  }

  /** Whether a program that the gate asks about is allowed by a rule that was saved after its command had started. */
  allowsProgram(asked: AskedProgram, cwd: string): boolean {
    const words = findRulableWords(asked);
    const matches = words === undefined ? [] : this.rulesIn(cwd).match(words);
    return matches.length > 0 && matches.every(isAllowing);
  }

  /** The words of a rule to offer for a program that the gate asks about. Null for none. */
  proposeForProgram(asked: AskedProgram): readonly string[] | null {
    const words = findRulableWords(asked);
    return words === undefined ? null : this.propose({ commands: [words] }, words);
  }

  /**
   * Saves a rule for a host, which `hasSaved` knows from then on: commands that run keep the network that they share. Never rejects; resolves to the reason
   * if it was not saved.
   */
  async saveHost(rule: AllowHostRule): Promise<string | undefined> {
    try {
      if (this.#saveRule === undefined) return "there is no place for saved rules";
      await this.#saveRule(rule);
      this.#savedHosts.add(rule.host);
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }

  /** Whether a rule can name this host; the loopback of the executor's host needs a port, which a rule of a file has not. */
  canSaveHost(host: string): boolean {
    return this.canSave && host !== HOST_LOOPBACK;
  }

  /** Whether a rule for this host was saved since the policy was read. */
  hasSaved(host: string): boolean {
    return this.#savedHosts.has(host);
  }

  /** See `limitNetwork`. */
  limitNetwork(sandbox: Sandbox | null, options: NetworkOptions | undefined): LimitedNetwork {
    return limitNetwork(sandbox, options, this.#policy.networkRules);
  }

  /** The words of a rule to offer: the suggestion of the model if it is usable, else the first command that needs approval. Null for none. */
  propose(
    { commands }: Pick<AnalyzedCommand, "commands">,
    asking: readonly string[] | null,
    suggested?: readonly string[] | undefined,
  ): readonly string[] | null {
    if (asking === null) return null;
    const offered = (words: readonly string[] | undefined) =>
      words !== undefined && countBytes(words) <= MAX_PROPOSED_RULE_BYTES ? words : undefined;
    const policy = this.#policy;
    return proposeAmendment({ policy, commands, suggested: offered(suggested), asking: offered(asking) }) ?? null;
  }

  /** Saves the rule, which is in force when this settles. Never rejects; resolves to the reason if it was not saved. */
  async save(rule: AllowRule): Promise<string | undefined> {
    try {
      const ban = findPrefixBan(rule.words);
      if (ban !== undefined) return ban;
      if (this.#saveRule === undefined) return "there is no place for saved rules";
      const origin = await this.#saveRule(rule);
      this.#policy = addRule(this.#policy, createAllowRule(rule, origin));
      this.#gates.clear();
      return undefined;
    } catch (error) {
      return messageOf(error);
    }
  }
}

/**
 * The words by which a rule allows this program. Undefined where a rule asks, which one that allows does not lift, and for a program that others
 * may replace, which is not known by its name.
 */
function findRulableWords({ program, argv, rule }: AskedProgram): readonly string[] | undefined {
  const name = posix.basename(program);
  return findDangerous(rule)?.program === name && isStandardProgram(program) ? [name, ...argv.slice(1)] : undefined;
}

function describeSource(source: RuleSource | undefined): string {
  if (source === undefined) return "";
  const why = source.refusing ?? source.justification;
  return why === undefined ? source.rule : `${source.rule}: ${why}`;
}

/**
 * Rules as they apply to commands: a path to a program is also subject to the rules for its name. A rule that allows
 * applies only where that name means this program: in a system directory, or declared by `host_executable`. One
 * that asks or forbids applies wherever the program is, whatever other rules there are for that path.
 */
export function createEffectiveRules(policy: RulePolicy, cwd: string): RulesPort {
  const asWritten = createRulesPort(policy);
  const byName = createRulesPort(policy, { resolveHostExecutables: true, cwd });
  const declared = new Set([...policy.hostExecutables.values()].flat());
  const findLenient = (command: readonly string[], program: string): readonly RuleMatch[] => {
    const matches = byName.match(command);
    if (isStandardProgram(program) || declared.has(program)) return matches;
    return asWritten.match(command).some(isAllowing) ? matches : matches.filter((match) => !isAllowing(match));
  };
  return {
    restricts: asWritten.restricts,
    matchLonger(words) {
      const [program = "", ...rest] = words;
      const named = program.includes("/") ? asWritten.matchLonger([posix.basename(program), ...rest]) : [];
      return [...byName.matchLonger(words), ...named];
    },
    match(command) {
      const [program = "", ...rest] = command;
      const matches = findLenient(command, program);
      if (!program.includes("/")) return matches;
      const known = new Set(matches.map(({ rule }) => rule));
      const strict = asWritten.match([posix.basename(program), ...rest]).filter((match) => !isAllowing(match));
      return [...matches, ...strict.filter(({ rule }) => !known.has(rule))];
    },
  };
}

const isAllowing = ({ decision }: RuleMatch): boolean => decision === "allow";

const countBytes = (words: readonly string[]) => words.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
