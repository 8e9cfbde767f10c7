import type { SandboxPermissions } from "@codex/executor-protocol";
import { MAX_SCRIPT_BYTES } from "@codex/shell-analysis";
import type { AnalyzedCommand } from "./analyzed-command.js";
import { type ApprovalPolicy, type QuestionCategory, refusingPolicy } from "./approval-policy.js";
import { findDangerousEntry, HOW_TO_OVERRIDE } from "./dangerous.js";
import { describeOutside } from "./describe-outside.js";
import { findKnownSafeEntry } from "./known-safe.js";
import type { AllowHostRule } from "./rules/allow-rule.js";
import type { RuleMatch, RulesPort } from "./rules-port.js";
import type { MissingSandbox } from "./sandbox/missing-sandbox.js";

/** Everything besides the command that `evaluateRequirement` depends on. */
export interface RequirementContext {
  approvalPolicy: ApprovalPolicy;
  sandboxPermissions: SandboxPermissions;
  /** The command may write anywhere: no sandbox restricts it. */
  unrestricted: boolean;
  /** Set if a sandbox is required and the executor has none. */
  missingSandbox?: MissingSandbox | undefined;
  rules?: RulesPort | undefined;
  /**
   * What rules and the dangerous commands say is held where each program starts. Then the text is asked about only for what it spells out, and not
   * for what it might hide.
   */
  isHeld?: boolean | undefined;
  /** `os` of the executor's host; undefined when it does not report it. */
  os?: string | undefined;
}

/** Whether a command may run, and if not, why. `cause` is what decided: a rule, a table entry, the policy. */
export type Requirement =
  | { kind: "skip"; bypassSandbox: boolean }
  /** `asking`: the first plain command that needs approval; null where no further allow rule would make the question unnecessary. */
  | { kind: "needsApproval"; reason: string; cause: Cause; asking: readonly string[] | null }
  | { kind: "forbidden"; reason: string; cause: Cause };

/** What a requirement results from: the rule, table entry or condition that decided. */
export type Cause =
  | { kind: "rule"; rule: string }
  | { kind: "dangerous"; entry: string }
  /** The command is too large, or too deeply nested, to be analyzed completely. */
  | { kind: "too_complex" }
  | { kind: "override" }
  /** A running command wants to reach this host, about which no rule decides. */
  | { kind: "host"; host: string; port: number; protocol: AllowHostRule["protocol"] }
  /** The executor cannot sandbox it. */
  | { kind: "no_sandbox" }
  /** Its sandbox denied it an access, and it is to run again outside. */
  | { kind: "sandbox_denial" }
  /** The model asks for another profile of permissions. */
  | { kind: "profile" }
  | { kind: "policy" };

/** One command's verdict. `explicit`: a rule allowed it to run outside the sandbox. */
type Verdict = { decision: "allow"; explicit: boolean } | Restriction;
type Restriction = { decision: "prompt" | "forbidden"; reason: string; cause: Cause };

/** The requirement of a command: the strictest verdict over all of it. Pure. */
export function evaluateRequirement(command: AnalyzedCommand, context: RequirementContext): Requirement {
  const override = context.sandboxPermissions !== "use_default";
  const refusing = override ? refusingPolicy(context.approvalPolicy, "sandboxApproval") : undefined;
  if (refusing !== undefined) {
    const asked = `sandbox_permissions \`${context.sandboxPermissions}\``;
    const reason = `approval policy ${refusing} does not let a command ask for ${asked}; run it with \`use_default\``;
    return { kind: "forbidden", reason, cause: { kind: "override" } };
  }
  const allowed = (verdict: Verdict) => applyApprovalPolicy(verdict, context.approvalPolicy);
  const inside = findRestrictions(command, context).map((found) => ({ ...found, verdict: allowed(found.verdict) }));
  const plain = command.commands.map((words) => ({ words, verdict: allowed(evaluateWords(words, context)) }));
  const verdicts = [...inside, ...plain].map(({ verdict }) => verdict);
  const stricter = verdicts.find(isForbidden) ?? verdicts.find(isPrompt);
  if (stricter === undefined) {
    const bypassSandbox = verdicts.length > 0 && verdicts.every((one) => one.decision === "allow" && one.explicit);
    return { kind: "skip", bypassSandbox };
  }
  const { reason, cause } = stricter;
  if (stricter.decision === "forbidden") return { kind: "forbidden", reason, cause };
  return { kind: "needsApproval", reason, cause, asking: findAsking(inside, plain) };
}

/** What a verdict is about; without words, the command as a whole. */
interface CommandVerdict {
  words: readonly string[] | undefined;
  verdict: Verdict;
}

/** Null where a rule requires approval, or a command that is only found inside does: no further rule changes that. */
function findAsking(inside: readonly CommandVerdict[], plain: readonly CommandVerdict[]): readonly string[] | null {
  const texts = new Set(plain.map(({ words }) => JSON.stringify(words)));
  const fixed = inside.some(({ words, verdict }) => isPrompt(verdict) && !texts.has(JSON.stringify(words ?? null)));
  const asking = plain.filter(({ verdict }) => isPrompt(verdict));
  if (fixed || asking.some(({ verdict }) => isPrompt(verdict) && verdict.cause.kind === "rule")) return null;
  return asking[0]?.words ?? null;
}

const isForbidden = (verdict: Verdict): verdict is Restriction => verdict.decision === "forbidden";
const isPrompt = (verdict: Verdict): verdict is Restriction => verdict.decision === "prompt";

/** If the policy never asks for approval, a command that needs it is refused. */
function applyApprovalPolicy(verdict: Verdict, policy: ApprovalPolicy): Verdict {
  if (verdict.decision !== "prompt") return verdict;
  const { cause } = verdict;
  const category: QuestionCategory = cause.kind === "rule" ? "rules" : "sandboxApproval";
  const refusing = refusingPolicy(policy, category);
  if (refusing === undefined) return verdict;
  const override = HOW_TO_LIFT[cause.kind] ?? "";
  const reason = `${verdict.reason}; approval policy ${refusing} does not ask${override}`;
  return { decision: "forbidden", reason, cause };
}

/** Ends the reason of a refusal: how a person can override it. */
const HOW_TO_LIFT: Partial<Record<Cause["kind"], string>> = {
  dangerous: ` (${HOW_TO_OVERRIDE})`,
  no_sandbox: " (a rule that allows the command lets it run, and sandbox mode `danger-full-access` every command)",
};

function evaluateWords(command: readonly string[], context: RequirementContext): Verdict {
  const ruled = evaluateRules(command, context.rules);
  // A rule with `sandbox: "keep"` does not allow the command to leave or widen the sandbox.
  if (ruled?.decision === "allow" && !ruled.explicit) {
    return evaluateOverride(context) ?? evaluateMissingSandbox(command, context) ?? ruled;
  }
  return (
    ruled ??
    evaluateDanger(command) ??
    evaluateOverride(context) ??
    evaluateMissingSandbox(command, context) ??
    evaluateApprovalPolicy(command, context)
  );
}

/** Without the sandbox that it should have, only a command that is known to be safe needs no approval. */
function evaluateMissingSandbox(
  command: readonly string[],
  { missingSandbox, os }: RequirementContext,
): Restriction | undefined {
  if (missingSandbox === undefined) return undefined;
  const cause: Cause = { kind: "no_sandbox" };
  if (findKnownSafeEntry(command, os) === undefined) {
    const reason = `${missingSandbox.reason}; without one, whatever is not known to be safe is asked about`;
    return { decision: "prompt", reason, cause };
  }
  const closed = missingSandbox.findClosed(command);
  if (closed === undefined) return undefined;
  return { decision: "prompt", reason: `${missingSandbox.reason}; \`${closed}\` names what one would close`, cause };
}

/** The verdict where no rule and no table decides. */
function evaluateApprovalPolicy(command: readonly string[], context: RequirementContext): Verdict {
  const allow: Verdict = { decision: "allow", explicit: false };
  if (context.approvalPolicy !== "untrusted" || findKnownSafeEntry(command, context.os) !== undefined) return allow;
  const reason = `approval policy \`untrusted\` asks for every command that is not known to be safe`;
  return { decision: "prompt", reason, cause: { kind: "policy" } };
}

function evaluateOverride(context: RequirementContext): Restriction | undefined {
  if (!asksForOverride(context)) return undefined;
  const asked =
    context.sandboxPermissions === "require_escalated" ? "to run outside the sandbox" : "for extra permissions";
  return { decision: "prompt", reason: `the command asks ${asked}`, cause: { kind: "override" } };
}

/** `on-request` and `granular` ask whenever an override is requested; the others only where a sandbox applies. */
function asksForOverride({ sandboxPermissions, approvalPolicy, unrestricted }: RequirementContext): boolean {
  if (sandboxPermissions === "use_default") return false;
  return !unrestricted || approvalPolicy === "on-request" || typeof approvalPolicy === "object";
}

/** The strictest of all rules that match wins; the tables apply only if no rule matches. */
function evaluateRules(command: readonly string[], rules: RulesPort | undefined): Verdict | undefined {
  const matches = rules?.match(command) ?? [];
  const match = (decision: RuleMatch["decision"]) => matches.find((one) => one.decision === decision);
  const strict = match("forbidden") ?? match("prompt");
  if (strict !== undefined && strict.decision !== "allow") {
    const why = strict.justification === undefined ? "" : `: ${strict.justification}`;
    const verb = strict.decision === "forbidden" ? "forbids" : "asks before";
    const where = strict.outside === undefined ? "" : `, which then runs ${describeOutside(strict.outside)}`;
    const reason = `rule ${strict.rule} ${verb} this command${where}${why}`;
    return { decision: strict.decision, reason, cause: { kind: "rule", rule: strict.rule } };
  }
  if (matches.length === 0) return undefined;
  return { decision: "allow", explicit: matches.every((one) => one.sandbox !== "keep") };
}

function evaluateDanger(command: readonly string[]): Verdict | undefined {
  const entry = findDangerousEntry(command);
  if (entry === undefined) return undefined;
  const reason = `${entry.what} (entry \`${entry.name}\` of the dangerous commands)`;
  return { decision: "prompt", reason, cause: { kind: "dangerous", entry: entry.name } };
}

/** Commands spelled out inside can make the verdict stricter, never more lenient. */
function findRestrictions(
  { literals, parseProblem, sizeBytes }: AnalyzedCommand,
  context: RequirementContext,
): CommandVerdict[] {
  const found: CommandVerdict[] = [];
  for (const words of literals.commands) {
    const verdict = evaluateRules(words, context.rules) ?? evaluateDanger(words);
    if (verdict !== undefined && verdict.decision !== "allow") found.push({ words, verdict });
  }
  if (context.isHeld === true) return found;
  for (const words of literals.guesses ?? []) {
    const verdict = evaluateRules(words, context.rules) ?? evaluateDanger(words);
    if (verdict !== undefined && verdict.decision !== "allow") found.push({ words, verdict: toQuestion(verdict) });
  }
  for (const words of literals.beginnings ?? []) {
    const [rule] = context.rules?.matchLonger(words) ?? [];
    if (rule === undefined) continue;
    const reason = `what follows \`${words.join(" ")}\` is known only at run time, and rule ${rule.rule} may apply to it`;
    found.push({ words, verdict: { decision: "prompt", reason, cause: { kind: "rule", rule: rule.rule } } });
  }
  if (literals.complete || isBypassed(context)) return found;
  const reason = parseProblem ?? literals.unclear ?? describeTooComplex(sizeBytes);
  return [...found, { words: undefined, verdict: { decision: "prompt", reason, cause: { kind: "too_complex" } } }];
}

/** Everything may run without asking, and no rule takes anything back. */
const isBypassed = ({ approvalPolicy, unrestricted, rules }: RequirementContext): boolean =>
  approvalPolicy === "never" && unrestricted && rules?.restricts !== true;

const describeTooComplex = (bytes: number | undefined): string =>
  `the command${bytes === undefined ? "" : ` of ${bytes} bytes`} is too long or too deeply nested to be analyzed (scripts up to ${MAX_SCRIPT_BYTES} bytes are); run it in parts, and write long text to a file with a patch`;

/** A command that only might be run needs approval, even where a rule forbids it. */
function toQuestion({ reason, cause }: Restriction): Restriction {
  return { decision: "prompt", reason: `the command may run what is among its arguments: ${reason}`, cause };
}
