import type { AnalyzedCommand } from "./analyzed-command.js";
import type { ApprovalPolicy } from "./approval-policy.js";
import { describeOutside } from "./describe-outside.js";
import { findKnownSafeEntry } from "./known-safe.js";
import { evaluateRequirement, type Requirement, type RequirementContext } from "./requirement.js";
import { createEffectiveRules, RuleBook } from "./rule-book.js";
import type { AllowRule } from "./rules/allow-rule.js";
import type { RulePolicy } from "./rules/policy.js";
import type { RuleMatch } from "./rules-port.js";

/** How policy decides about a command, step by step. */
export interface Explanation {
  /** The plain commands, or the whole argv as the only one. */
  readonly commands: readonly ExplainedCommand[];
  readonly isSplit: boolean;
  /** Further commands that are spelled out inside; they can only restrict. */
  readonly inside: readonly ExplainedCommand[];
  /** Further commands that it may run, which can only require approval: arguments of unknown programs. */
  readonly guessed: readonly ExplainedCommand[];
  /** Beginnings of commands, to which a rule may apply that names more words: the next one is known only at run time. */
  readonly begun: readonly ExplainedCommand[];
  /** False: there may be more inside than was found. */
  readonly isComplete: boolean;
  /** Why there may be more; undefined when a bound is the reason, or nothing is missing. */
  readonly unclear: string | undefined;
  /** A shell in it reads the command's later input: lines are evaluated as they are typed. */
  readonly readsScript: boolean;
  readonly requirement: Requirement;
  readonly why: string;
  /**
   * The requirement in a sandbox where programs are judged when they start, which settles what is guessed, begun or incomplete here;
   * undefined where nothing is.
   */
  readonly whereHeld: Requirement | undefined;
  /** The rule that a person would be offered to save. */
  readonly proposedRule: AllowRule | null;
}

/** How policy decides about one command within a larger one. */
export interface ExplainedCommand {
  readonly words: readonly string[];
  readonly matches: readonly RuleMatch[];
  /** The requirement of this command alone. */
  readonly requirement: Requirement["kind"];
  readonly why: string;
}

/** The context of `evaluateRequirement`, with all rules instead of those for one directory. */
export interface ExplainContext extends Omit<RequirementContext, "rules"> {
  readonly rules: RulePolicy;
  /** Absolute, for programs named by a relative path. */
  readonly cwd: string;
}

/** Returns the decision that a call would get, with the reasons. Pure. */
export function explainCommand(command: AnalyzedCommand, context: ExplainContext): Explanation {
  const rules = createEffectiveRules(context.rules, context.cwd);
  const judging: RequirementContext = { ...context, rules };
  const explain = (words: readonly string[], place: Place): ExplainedCommand => {
    const found = evaluateRequirement(toAnalyzed(words, place), judging);
    const matches = rules.match(words);
    return { words, matches, requirement: found.kind, why: explainOne(found, words, matches, judging, place) };
  };
  const plain = new Set(command.commands.map((words) => JSON.stringify(words)));
  const inside = command.literals.commands.filter(
    (words) => !plain.has(JSON.stringify(words)) && !isArgvOf(words, command),
  );
  const found = evaluateRequirement(command, judging);
  const asking = found.kind === "needsApproval" ? found.asking : null;
  const proposed = new RuleBook(context.rules, undefined).propose(command, asking);
  return {
    commands: command.commands.map((words) => explain(words, "plain")),
    isSplit: command.isSplit,
    inside: inside.map((words) => explain(words, "inside")),
    guessed: (command.literals.guesses ?? []).map((words) => explain(words, "guessed")).filter(isRestricted),
    begun: (command.literals.beginnings ?? []).map((words) => explain(words, "begun")).filter(isRestricted),
    isComplete: command.literals.complete,
    unclear: command.parseProblem ?? command.literals.unclear,
    readsScript: command.literals.readsScript === true,
    requirement: found,
    why: explainAll(found, context.approvalPolicy),
    whereHeld: isSettled(command) ? undefined : evaluateRequirement(command, { ...judging, isHeld: true }),
    proposedRule: proposed === null ? null : { words: proposed, keepsSandbox: isInSandbox(context) },
  };
}

const isInSandbox = ({ unrestricted, missingSandbox, sandboxPermissions }: ExplainContext): boolean =>
  !unrestricted && missingSandbox === undefined && sandboxPermissions === "use_default";

/** Where a command was found. */
type Place = "plain" | "inside" | "guessed" | "begun";

/** The text says everything that the command runs. */
const isSettled = ({ literals }: AnalyzedCommand): boolean =>
  literals.complete && (literals.guesses ?? literals.beginnings) === undefined;

function toAnalyzed(words: readonly string[], place: Place): AnalyzedCommand {
  if (place === "plain") return { commands: [words], isSplit: true, literals: { commands: [], complete: true } };
  const one = [[...words]];
  const found = { inside: { commands: one }, guessed: { guesses: one }, begun: { beginnings: one } }[place];
  return { commands: [], isSplit: true, literals: { commands: [], ...found, complete: true } };
}

const isRestricted = ({ requirement: found }: ExplainedCommand) => found !== "skip";

/** The argv of a split script is listed first among the commands spelled out in it. */
const isArgvOf = (words: readonly string[], { isSplit, literals }: AnalyzedCommand) =>
  isSplit && words === literals.commands[0];

function explainOne(
  found: Requirement,
  words: readonly string[],
  matches: readonly RuleMatch[],
  { approvalPolicy, os }: RequirementContext,
  place: Place,
): string {
  if (found.kind !== "skip") return found.reason;
  if (matches.length > 0) {
    const outside = matches.find((match) => match.outside !== undefined)?.outside;
    const where =
      outside === undefined ? "" : `, ${describeOutside(outside)}, where programs are judged when they start`;
    if (place !== "plain") return `a rule allows it${where}, but not the command that contains it`;
    if (where !== "") return `a rule allows it${where}`;
    return found.bypassSandbox ? "a rule allows it, outside the sandbox" : "a rule allows it, in the sandbox";
  }
  if (place !== "plain") return "nothing restricts it";
  if (approvalPolicy === "untrusted" && findKnownSafeEntry(words, os) !== undefined) return "it is known to be safe";
  return `no rule matches, and approval policy ${nameOf(approvalPolicy)} does not ask`;
}

function explainAll(found: Requirement, policy: ApprovalPolicy): string {
  if (found.kind !== "skip") return found.reason;
  if (found.bypassSandbox) return "rules allow every command, outside the sandbox";
  return `nothing in it asks under approval policy ${nameOf(policy)}`;
}

const nameOf = (policy: ApprovalPolicy) => `\`${typeof policy === "string" ? policy : "granular"}\``;
