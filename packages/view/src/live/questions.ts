import type { AnsweredElsewhere, ApprovalAnswer, ApprovalRequest, Approver } from "@codex/orchestrator";
import { findRuleProblem, ruleToSave } from "@codex/orchestrator";
import { defined } from "@codex/values";
import type { QuestionEntity } from "../wire/entities.js";
import type { Action } from "../wire/messages.js";
import type { Board } from "./board.js";
import { shorten } from "./text.js";

type Answer = Extract<Action, { type: "answer" }>;

interface OpenQuestion {
  readonly request: ApprovalRequest;
  readonly resolve: (answer: ApprovalAnswer) => void;
  readonly release: () => void;
}

/** Shows the questions of an orchestrator, and answers them with the decisions of viewers. */
export class Questions {
  readonly #board: Board;
  readonly #now: () => number;
  readonly #hold: () => () => void;
  readonly #open = new Map<string, OpenQuestion>();

  /** @param hold keeps the process alive while a viewer may still answer, until the returned function is called */
  constructor(board: Board, now: () => number, hold: () => () => void) {
    this.#board = board;
    this.#now = now;
    this.#hold = hold;
  }

  /** The approver of this view, asked together with others. */
  get approver(): Approver {
    return {
      requestApproval: (request, { signal }) =>
        new Promise((resolve, reject) => {
          this.#open.set(request.id, { request, resolve, release: this.#hold() });
          this.#board.set(describeQuestion(request, this.#now()));
          signal.addEventListener(
            "abort",
            () => {
              this.#withdraw(request.id, signal.reason);
              reject(signal.reason);
            },
            { once: true },
          );
        }),
    };
  }

  /** Applies the answer of a viewer. Returns the message for that viewer. */
  answer({ question, decision, rule }: Answer, viewer: string): { text: string; isProblem: boolean } {
    const open = this.#open.get(question);
    if (open === undefined) return { text: this.#describeClosed(question), isProblem: true };
    const { request, resolve } = open;
    if (!request.availableDecisions.includes(decision)) {
      return { text: `This question cannot be answered with ${decision}.`, isProblem: true };
    }
    if (decision === "accept_and_save" && rule !== undefined) {
      const problem = findRuleProblem(rule, request.plainCommands);
      if (problem !== undefined) return { text: `The rule was not saved: ${problem}`, isProblem: true };
    }
    const via = `view, ${viewer}`;
    this.#close(question, { decision, by: viewer });
    resolve({ decision, via, ...defined({ rule }) });
    return { text: `${DECISIONS[decision]}.`, isProblem: false };
  }

  #describeClosed(id: string): string {
    const entity = this.#board.get(`question ${id}`);
    const answer = entity?.kind === "question" ? entity.answer : undefined;
    return answer === undefined
      ? "This question is not open any more."
      : `Answered elsewhere: ${answer.decision} by ${answer.by}. Your answer does not count.`;
  }

  #withdraw(id: string, reason: unknown): void {
    if (!this.#open.has(id)) return;
    const elsewhere = toElsewhere(reason);
    if (elsewhere === undefined) this.#close(id, { decision: "withdrawn", by: "the program" });
    else this.#close(id, { decision: elsewhere.decision, by: elsewhere.via ?? "another approver of the program" });
  }

  #close(id: string, answer: NonNullable<QuestionEntity["answer"]>): void {
    this.#open.get(id)?.release();
    this.#open.delete(id);
    const entity = this.#board.get(`question ${id}`);
    if (entity?.kind === "question") this.#board.set({ ...entity, answer });
    this.#board.flush();
  }
}

function toElsewhere(reason: unknown): AnsweredElsewhere | undefined {
  if (typeof reason !== "object" || reason === null || !("decision" in reason)) return undefined;
  return reason as AnsweredElsewhere; // the documented reason of a panel
}

const DECISIONS = {
  accept: "Accepted",
  accept_for_session: "Accepted for the session",
  accept_and_save: "Accepted, and the rule is saved",
  decline: "Declined",
  cancel: "The turn ends",
} as const;

function describeQuestion(request: ApprovalRequest, askedAt: number): QuestionEntity {
  const { id, environment, toolName, command, cwd, tty, reason, justification, afterDenial } = request;
  const { additionalPermissions, sandboxPermissions, proposedAmendment, availableDecisions, sandbox } = request;
  const permissions = additionalPermissions === null ? [] : [JSON.stringify(additionalPermissions)];
  if (sandboxPermissions !== "use_default") permissions.unshift(sandboxPermissions.replaceAll("_", " "));
  return {
    ...{ kind: "question", id, environment, tool: toolName, command, cwd, tty, askedAt },
    reason: shorten(reason),
    sandbox: sandbox === null ? "no sandbox" : `sandbox: ${sandbox.permissions.type}`,
    decisions: availableDecisions,
    ...(justification === null ? {} : { justification: shorten(justification) }),
    ...(permissions.length === 0 ? {} : { permissions: shorten(permissions.join(", ")) }),
    ...(afterDenial === null ? {} : { afterDenial: shorten(afterDenial.reason) }),
    ...(proposedAmendment === null
      ? {}
      : { rule: proposedAmendment, keepsSandbox: ruleToSave(request, proposedAmendment).keepsSandbox }),
  };
}
