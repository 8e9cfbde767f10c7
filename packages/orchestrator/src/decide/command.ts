import type { ExecGate, ManagedNetwork, Sandbox } from "@codex/executor-protocol";
import { denyAlso, opensDenied } from "@codex/permissions";
import {
  type AnalyzedCommand,
  analyzeCommand,
  evaluateRequirement,
  findMissingSandbox,
  type LimitedNetwork,
  type Policy,
  type Requirement,
  type RequirementContext,
  type RuleBook,
  refusingPolicy,
  selectApproved,
} from "@codex/policy";
import { defined } from "@codex/values";
import type { AfterDenial, ApprovalDecision } from "../approvals/approver.js";
import { copyFrozen, digestRequest } from "../approvals/binding.js";
import { HOST_QUESTION_MS, MAX_PROGRAM_QUESTIONS, PROGRAM_QUESTION_MS } from "../limits.js";
import type { ResolvedExec } from "../resolve/exec-command.js";
import type { Selected } from "../resolve/select-executor.js";
import { type ChosenSandbox, chooseSandbox, selectSandbox } from "./choose-sandbox.js";
import { type Evaluation, forbidden, type Question, unavailable } from "./decision.js";
import type { DecidePorts, Ruling } from "./ports.js";
import { sessionKey } from "./session-key.js";

/** A program that would be started. */
export interface CommandDeed {
  readonly selected: Selected;
  readonly resolved: ResolvedExec;
  /** Set for a second run, outside the sandbox that ended the first one. */
  readonly after?: { readonly denial: AfterDenial; readonly reason: string; readonly command: AnalyzedCommand };
}

/** How a program may be started. */
export interface CommandTerms {
  readonly bypassSandbox: boolean;
  /** The sandbox sent with the command; absent if the executor does not support sandboxes. */
  readonly sandbox?: Sandbox | null;
  readonly proposedAmendment: readonly string[] | null;
  /** The command as policy analyzed it. */
  readonly command: AnalyzedCommand;
  /** Rules for every program that it starts; absent without any, and where the executor does not take them. */
  readonly execGate?: ExecGate;
  /** What it may reach; absent: what its sandbox says of the network. */
  readonly network?: ManagedNetwork;
}

/** Names a command in questions about its programs and hosts; undefined where nobody is asked about them. */
export const questionKeyOf = ({ execGate, network }: CommandTerms): string | undefined =>
  execGate?.questions?.key ?? network?.questions?.key;

/** Evaluates policy and rules, and chooses the sandbox. */
export async function evaluateCommand(
  deed: CommandDeed,
  { policy: standing, rules: book }: Ruling,
  ports: DecidePorts,
): Promise<Evaluation<CommandTerms>> {
  const { selected, resolved, after } = deed;
  if (after !== undefined) return evaluateSecondRun(deed, after, { policy: standing, rules: book }, ports);
  const asked = applyProfile(standing, resolved.permissionProfile);
  if ("refused" in asked) return { requirement: undefined, outcome: unavailable(asked.refused) };
  const { policy, profile } = asked;
  const { request } = resolved;
  const { executor } = selected;
  const { host } = executor;
  const command = await analyzeCommand(request.command, host, ports.shellParser);
  const rules = book.rulesIn(request.cwd);
  const missingSandbox = findMissingSandbox(executor, request.cwd, command, policy.sandbox);
  const context = {
    approvalPolicy: policy.approvalPolicy,
    sandboxPermissions: request.sandboxPermissions,
    unrestricted: policy.sandbox.unrestricted,
    missingSandbox,
    rules,
    os: host?.os,
  };
  const isSandboxed = !policy.sandbox.unrestricted && missingSandbox === undefined;
  const { complete, guesses, beginnings, readsScript } = command.literals;
  const mayHide = !complete || readsScript === true || (guesses ?? beginnings) !== undefined;
  const held = isSandboxed && mayHide && (await executor.holdsPrograms()) ? evaluateHeld(command, context) : undefined;
  const decided = held ?? evaluateRequirement(command, context);
  const requirement = profile === undefined ? decided : requireAnswer(decided, profile, policy);
  const matches = () => command.commands.flatMap((words) => rules.match(words));
  const evaluated = { requirement, matches };
  if (requirement.kind === "forbidden") return { ...evaluated, outcome: forbidden(requirement.reason) };
  const bypassSandbox =
    missingSandbox !== undefined ||
    (requirement.kind === "skip" ? requirement.bypassSandbox : request.sandboxPermissions === "require_escalated");
  if (profile !== undefined && missingSandbox !== undefined) {
    return { ...evaluated, outcome: unavailable(`profile \`${profile}\` cannot be held: ${missingSandbox.reason}`) };
  }
  const found = chooseSandbox(executor, resolved, bypassSandbox, policy);
  const chosen = profile === undefined || bypassSandbox ? found : keepStanding(found, deed, standing, profile);
  if (chosen.kind === "refused") return { ...evaluated, outcome: unavailable(chosen.reason) };
  const sandbox = chooseNetwork(executor, chosen.sandbox, policy, book);
  if ("refused" in sandbox) return { ...evaluated, outcome: unavailable(sandbox.refused) };
  const isHeld = held !== undefined;
  const gate = chooseGate(
    { executor, isHeld, isSandboxed: isSandboxed && !bypassSandbox, outside: findOutside(deed, standing) },
    book,
    policy,
    command,
    ports,
  );
  const heard = listenToNetwork(executor, sandbox.network, policy, gate.execGate?.questions?.key, ports);
  const asIs = { bypassSandbox, ...sandbox, ...gate, ...heard, command, proposedAmendment: null };
  if (requirement.kind === "skip") return { ...evaluated, outcome: { kind: "allowed", terms: asIs } };
  // A rule would be for the sandbox of the policy.
  const proposed = profile === undefined ? book.propose(command, requirement.asking, resolved.prefixRule) : null;
  const terms = { ...asIs, proposedAmendment: proposed };
  const question = createQuestion(deed, requirement, terms, book.canSave, ports.newId());
  return { ...evaluated, outcome: { kind: "ask", terms, reason: requirement.reason, question } };
}

/** The policy with the profile that is asked for. `profile`: a person has to be asked about it. */
function applyProfile(
  policy: Policy,
  name: string | undefined,
): { policy: Policy; profile: string | undefined } | { refused: string } {
  if (name === undefined) return { policy, profile: undefined };
  const found = policy.profiles?.get(name);
  if (found === undefined) {
    const names = [...(policy.profiles?.keys() ?? [])].map((each) => `\`${each}\``).join(", ");
    const known = names === "" ? "none can be asked for here" : `those are ${names}`;
    return { refused: `there is no permission profile \`${name}\` to ask for; ${known}` };
  }
  const { network: _, ...rest } = policy;
  // Less than everything needs no approval.
  return { policy: { ...rest, ...found }, profile: policy.sandbox.unrestricted ? undefined : name };
}

/** What rules and policy would let run in its own sandbox needs approval in another one. */
function requireAnswer(decided: Requirement, profile: string, { approvalPolicy }: Policy): Requirement {
  const reason = `it asks for permission profile \`${profile}\`, for this command alone`;
  if (decided.kind === "needsApproval") return { ...decided, reason: `${decided.reason}; ${reason}` };
  if (decided.kind !== "skip" || decided.bypassSandbox) return decided;
  const refusing = refusingPolicy(approvalPolicy, "sandboxApproval");
  if (refusing !== undefined) {
    return {
      kind: "forbidden",
      reason: `approval policy ${refusing} lets no command run in another permission profile`,
      cause: { kind: "profile" },
    };
  }
  return { kind: "needsApproval", reason, cause: { kind: "profile" }, asking: null };
}

/** With what the person's own profile and the administrator deny. */
function keepStanding(found: ChosenSandbox, deed: CommandDeed, standing: Policy, profile: string): ChosenSandbox {
  if (found.kind === "refused" || found.sandbox === undefined) return found;
  const sandbox = denyAlso(found.sandbox, findOutside(deed, standing) ?? null);
  if (sandbox !== undefined) return { ...found, sandbox };
  return { kind: "refused", reason: `permission profile \`${profile}\` opens what is denied otherwise` };
}

/** The requirement where programs are judged when they start; undefined for a command that leaves the sandbox, whose text decides. */
function evaluateHeld(command: AnalyzedCommand, context: RequirementContext): Requirement | undefined {
  if (context.sandboxPermissions === "require_escalated") return undefined;
  const requirement = evaluateRequirement(command, { ...context, isHeld: true });
  return requirement.kind === "skip" && requirement.bypassSandbox ? undefined : requirement;
}

/** A command whose hosts the executor cannot limit is refused. */
function chooseNetwork(
  executor: Selected["executor"],
  sandbox: Sandbox | null | undefined,
  { network }: Policy,
  rules: RuleBook,
): LimitedNetwork | Record<string, never> {
  if (sandbox === undefined) return {};
  const limited = rules.limitNetwork(sandbox, network);
  if ("refused" in limited || limited.network === undefined) return limited;
  const lack = executor.can("managed_network")
    ? limited.network.routes === undefined || executor.can("network_routes")
      ? undefined
      : "has no routes with secrets"
    : "cannot limit which hosts a command reaches; the network has to be closed to it";
  return lack === undefined ? limited : { refused: `executor \`${executor.name}\` ${lack}` };
}

/**
 * What a command does about hosts is reported. What the rules for hosts leave open is asked about, where the policy asks and the rules are not
 * complete.
 */
function listenToNetwork(
  executor: Selected["executor"],
  network: ManagedNetwork | undefined,
  { approvalPolicy, network: options }: Policy,
  gateKey: string | undefined,
  { newId }: Pick<DecidePorts, "newId">,
): Pick<CommandTerms, "network"> {
  if (network === undefined) return {};
  const isAsked = options?.isComplete !== true && refusingPolicy(approvalPolicy, "sandboxApproval") === undefined;
  const key = gateKey ?? newId();
  const questions = { key, timeoutMs: HOST_QUESTION_MS };
  return {
    network: {
      ...network,
      ...(isAsked && executor.can("host_questions") ? { questions } : {}),
      ...(executor.can("host_reports") ? { reports: key } : {}),
    },
  };
}

type GateRule = ExecGate["rules"][number];

/** Where a command would run. `isHeld`: its text was decided about as one whose programs are judged when they start. */
interface GatePlace {
  readonly executor: Selected["executor"];
  readonly isSandboxed: boolean;
  readonly isHeld: boolean;
  /** What holds what leaves its sandbox; null for nothing, undefined where none can be chosen. */
  readonly outside: Sandbox | null | undefined;
}

function findOutside({ selected: { executor }, resolved }: CommandDeed, { sandbox }: Policy): GatePlace["outside"] {
  const chosen = selectSandbox(executor, resolved, true, sandbox);
  return chosen.kind === "chosen" ? chosen.sandbox : undefined;
}

/**
 * What was decided about with the command is not asked about again where it starts. Outside of a sandbox a gate takes the means of `sudo`: it is used
 * there only where a rule forbids.
 */
function chooseGate(
  { executor, isSandboxed, isHeld, outside }: GatePlace,
  rules: RuleBook,
  { approvalPolicy }: Policy,
  { commands, literals }: AnalyzedCommand,
  { newId }: Pick<DecidePorts, "newId">,
): { execGate?: ExecGate } {
  if (!executor.can("exec_gate")) return {};
  const asks = executor.can("program_questions");
  const found = rules.gateFor(approvalPolicy, { asks, danger: isHeld, leaves: isSandboxed });
  if (found === undefined) return {};
  const gate = outside === null ? found : { ...found, rules: found.rules.map((rule) => keepDenied(rule, outside)) };
  const forbids = gate.rules.some(({ decision }) => decision === "refuse");
  if (!isSandboxed && !forbids) return {};
  const required = isHeld ? { required: true } : {};
  if (!gate.rules.some(({ decision }) => decision === "ask")) return { execGate: { ...gate, ...required } };
  const approved = selectApproved([...commands, ...literals.commands]);
  const limits = { most: MAX_PROGRAM_QUESTIONS, timeoutMs: PROGRAM_QUESTION_MS };
  return { execGate: { ...gate, ...required, approved, questions: { key: newId(), ...limits } } };
}

/** A program stays in the sandbox of its command where it would get what is denied outside as well. */
function keepDenied(rule: GateRule, outside: Sandbox | undefined): GateRule {
  if (rule.place.kind === "inside" || rule.place.profile === "network") return rule;
  const { profile } = rule.place;
  const isKept = profile === "unrestricted" || profile.write.some((path) => opensDenied(path, outside));
  return isKept ? { ...rule, place: { kind: "inside" } } : rule;
}

/** It has run in part. It is asked about whatever the rules say, where the policy asks in this case. */
function evaluateSecondRun(
  deed: CommandDeed,
  { command, reason }: NonNullable<CommandDeed["after"]>,
  { policy, rules }: Omit<Ruling, "approver">,
  { newId }: DecidePorts,
): Evaluation<CommandTerms> {
  const { selected, resolved } = deed;
  const requirement = undefined;
  if (policy.approvalPolicy === "on-request") {
    const advice = 'call again with sandbox_permissions "require_escalated"';
    return { requirement, outcome: forbidden(`if the command has to run outside the sandbox, ${advice}`) };
  }
  const refusing = refusingPolicy(policy.approvalPolicy, "sandboxApproval");
  if (refusing !== undefined) {
    return { requirement, outcome: forbidden(`approval policy ${refusing} lets no command run outside the sandbox`) };
  }
  const chosen = chooseSandbox(selected.executor, resolved, true, policy);
  if (chosen.kind === "refused") return { requirement, outcome: unavailable(chosen.reason) };
  const { commands } = command;
  // A rule covers one command only.
  const asking = commands.length === 1 ? (commands[0] ?? null) : null;
  const sandbox = chooseNetwork(selected.executor, chosen.sandbox, policy, rules);
  if ("refused" in sandbox) return { requirement, outcome: unavailable(sandbox.refused) };
  const place = { executor: selected.executor, isHeld: false, isSandboxed: false, outside: chosen.sandbox };
  const terms = {
    bypassSandbox: true,
    ...sandbox,
    ...chooseGate(place, rules, policy, command, { newId }),
    command,
    proposedAmendment: rules.propose(command, asking, resolved.prefixRule),
  };
  const cause = { kind: "sandbox_denial" } as const;
  const question = createQuestion(deed, { reason, cause }, terms, rules.canSave, newId());
  return { requirement, outcome: { kind: "ask", terms, reason, question } };
}

/** The digest of what is approved is taken before, so that the decision covers exactly that. */
function createQuestion(
  { selected: { executor, tool }, resolved, after }: CommandDeed,
  { reason, cause }: Pick<Extract<Requirement, { kind: "needsApproval" }>, "reason" | "cause">,
  { bypassSandbox, sandbox, command, proposedAmendment }: CommandTerms,
  canSaveRules: boolean,
  id: string,
): Question {
  const { request } = resolved;
  const { permissionProfile } = resolved;
  const session: ApprovalDecision[] = permissionProfile === undefined ? ["accept_for_session"] : [];
  const save: ApprovalDecision[] = proposedAmendment !== null && canSaveRules ? ["accept_and_save"] : [];
  const shown = copyFrozen({
    id,
    toolName: tool.name,
    environment: executor.name,
    command: request.command,
    plainCommands: command.commands,
    cwd: request.cwd,
    tty: request.tty,
    reason,
    cause,
    justification: request.justification,
    sandboxPermissions: bypassSandbox ? ("require_escalated" as const) : request.sandboxPermissions,
    additionalPermissions: bypassSandbox ? null : request.additionalPermissions,
    sandbox: sandbox ?? null,
    afterDenial: after?.denial ?? null,
    proposedAmendment,
    ...defined({ permissionProfile }),
    availableDecisions: ["accept", ...session, ...save, "decline", "cancel"] as ApprovalDecision[],
  });
  // A script of one plain command counts as that command.
  const canonical = command.commands.length === 1 ? (command.commands[0] ?? request.command) : request.command;
  return {
    request: shown,
    keys: [sessionKey(shown, canonical)],
    digest: digestRequest(executor.name, { ...request, ...(sandbox === undefined ? {} : { sandbox }) }),
  };
}
