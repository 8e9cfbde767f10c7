import type { ApprovalResult } from "../approvals/approval-result.js";
import type { ApprovalRequest, Grant } from "../approvals/approver.js";
import { findRuleProblem } from "../approvals/rule-edit.js";
import { ruleToSave } from "../approvals/rule-to-save.js";
import { NO_TRAIL, type Trail } from "../audit/audit-trail.js";
import type { Approvals, AskHooks } from "./approvals.js";
import { type CommandDeed, type CommandTerms, evaluateCommand } from "./command.js";
import type { Decision, Evaluation, Question } from "./decision.js";
import { evaluateFileAccess, type FileAccessDeed, type FileTerms } from "./file-access.js";
import { evaluateHost, type HostDeed } from "./host.js";
import type { DecidePorts, Ruling } from "./ports.js";
import { evaluateProgram, type ProgramDeed } from "./program.js";
import { evaluateToolCall, type ToolCallDeed } from "./tool-call.js";
import { evaluateTypedLine, type TypedLineDeed } from "./typed-line.js";

/** Whose deeds are decided about: one call of one client in one environment. */
export interface Party {
  readonly ruling: Ruling;
  readonly client: string | undefined;
  /** Decided before the call. */
  readonly grant?: Grant | undefined;
  readonly trail: Trail;
  readonly askHooks?: AskHooks | undefined;
}

/** How a decision is made. */
interface Way {
  readonly trail: Trail;
  ask(question: Question, signal: AbortSignal): Promise<ApprovalResult | { kind: "open" }>;
  /** Carries out what follows from a decision, such as that a line was typed. */
  keep(effect: () => void): void;
}

/**
 * Decides whether a deed may be done: by the policy and its rules, the sandbox that it would get, and, where the policy requires it, by
 * asking. Everything that an orchestrator or an agent does passes through here first.
 */
export class Decider {
  readonly #ports: DecidePorts;
  readonly #ruling: Ruling;
  readonly #way: Way;

  private constructor(ports: DecidePorts, ruling: Ruling, way: Way) {
    this.#ports = ports;
    this.#ruling = ruling;
    this.#way = way;
  }

  /** Asks where the policy requires it, remembers and records. */
  static asking(ports: DecidePorts, approvals: Approvals, { ruling, client, grant, trail, askHooks }: Party): Decider {
    return new Decider(ports, ruling, {
      trail,
      ask: (question, signal) =>
        approvals.decide(question, { signal, client, grant, approver: ruling.approver, askHooks }),
      keep: (effect) => effect(),
    });
  }

  /** Only judges: asks nobody, and nothing is remembered or recorded. */
  static judging(ports: DecidePorts, approvals: Approvals, { ruling, client }: Omit<Party, "trail">): Decider {
    return new Decider(ports, ruling, {
      trail: NO_TRAIL,
      ask: async (question) =>
        approvals.remembers(question, client) ? { kind: "approved", by: "session" } : { kind: "open" },
      keep: () => {},
    });
  }

  /** A program, as it would be started. */
  async command(deed: CommandDeed, signal: AbortSignal | undefined): Promise<Decision<CommandTerms>> {
    return this.#decide(await evaluateCommand(deed, this.#ruling, this.#ports), signal);
  }

  /** Input for a shell, whose lines are commands: `command` would run them. Inputs for one shell are decided about in their order. */
  typedLine(
    deed: TypedLineDeed,
    signal: AbortSignal | undefined,
  ): Promise<{ decision: Decision<undefined>; command: readonly string[] }> {
    return deed.shell.inOrder(async () => {
      const { command, evaluation, keep } = await evaluateTypedLine(deed, this.#ruling, this.#ports);
      const decision = await this.#decide(evaluation, signal);
      if (decision.kind === "allowed") this.#way.keep(keep);
      return { decision, command };
    });
  }

  /** A program that a command starts, and that a rule asks about. */
  async program(deed: ProgramDeed, signal: AbortSignal | undefined): Promise<Decision<undefined>> {
    return this.#decide(evaluateProgram(deed, this.#ruling, this.#ports), signal);
  }

  /** A host that a command wants to reach, and that no rule decides about. */
  async host(deed: HostDeed, signal: AbortSignal | undefined): Promise<Decision<undefined>> {
    return this.#decide(evaluateHost(deed, this.#ruling, this.#ports), signal);
  }

  /** A call of a tool that asks for approval. */
  async toolCall(deed: ToolCallDeed, signal: AbortSignal | undefined): Promise<Decision<undefined>> {
    return this.#decide(evaluateToolCall(deed, this.#ruling.policy, this.#ports), signal);
  }

  /** An access to files: a patch, a write, a removal, a look. */
  async fileAccess(deed: FileAccessDeed, signal: AbortSignal | undefined): Promise<Decision<FileTerms>> {
    return this.#decide(evaluateFileAccess(deed, this.#ruling.policy, this.#ports), signal);
  }

  async #decide<Terms>(evaluation: Evaluation<Terms>, signal: AbortSignal | undefined): Promise<Decision<Terms>> {
    const { requirement, matches = () => [], outcome } = evaluation;
    const { trail } = this.#way;
    if (requirement !== undefined) trail.judged(requirement, matches);
    if (outcome.kind === "refused") return outcome;
    if (outcome.kind === "allowed") return { ...outcome, approval: undefined, notices: [] };
    const { terms, question, reason } = outcome;
    const { request, digest } = question;
    const { closing } = this.#ports;
    const answer = await this.#way.ask(question, signal === undefined ? closing : AbortSignal.any([signal, closing]));
    if (answer.kind === "open") return { kind: "ask", request, digest };
    trail.decided(request.id, answer);
    switch (answer.kind) {
      case "approved":
        return {
          kind: "allowed",
          terms,
          approval: { id: request.id, digest },
          notices: await this.#saveRule(answer, question),
        };
      case "denied":
        return { kind: "refused", code: "denied", reason: `${answer.reason} (asked because ${reason})`, by: answer.by };
      case "cancelled":
        return { kind: "refused", code: "cancelled", reason: `the ${answer.by} ended the turn` };
      case "changed":
        return { kind: "refused", code: "changed", reason: "the digest of the grant is that of another request" };
      case "interrupted":
        return closing.aborted
          ? { kind: "refused", code: "closed", reason: "the orchestrator was closed before anything was sent" }
          : { kind: "refused", code: "interrupted", reason: "the call was interrupted before anything was sent" };
    }
  }

  /** Saves a rule. If that fails, the deed is still allowed, and the result has a notice. */
  async #saveRule({ rule, savesHost }: Approved, { request }: Question): Promise<string[]> {
    const problem = savesHost === true ? await this.#saveHost(request) : await this.#savePrefix(rule, request);
    return problem === undefined ? [] : [`the rule of the approval was not saved: ${problem}`];
  }

  async #savePrefix(prefix: readonly string[] | undefined, request: ApprovalRequest): Promise<string | undefined> {
    if (prefix === undefined) return undefined;
    return (
      findRuleProblem(prefix, request.plainCommands) ?? (await this.#ruling.rules.save(ruleToSave(request, prefix)))
    );
  }

  async #saveHost({ cause }: ApprovalRequest): Promise<string | undefined> {
    return cause.kind === "host" ? this.#ruling.rules.saveHost(cause) : undefined;
  }
}

type Approved = Extract<ApprovalResult, { kind: "approved" }>;
