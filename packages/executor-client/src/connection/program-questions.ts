import type { ExecutorMessage, OrchestratorMessage, ProgramAnswer } from "@codex/executor-protocol";
import { evictOldest } from "@codex/values";

/** A program that a command of this executor starts, and that a rule asks about. */
export type AskedProgram = Omit<Extract<ExecutorMessage, { type: "program_question" }>, "type">;

/** Decides about a program. The signal aborts when the answer is not needed any more. A rejection counts as `unasked`. */
export type AnswerProgram = (question: AskedProgram, signal: AbortSignal) => Promise<ProgramAnswer>;

interface Ports {
  readonly answer: AnswerProgram;
  /** Rejects where there is no channel: the question is repeated over the next one. */
  readonly post: (message: Extract<OrchestratorMessage, { type: "program_answer" }>) => Promise<void>;
  /** No deadline of a call passes until the returned function is called. */
  readonly holdDeadlines: () => () => void;
}

/** Answers that may have been lost with a channel. */
const KEPT_ANSWERS = 256;

/** The questions of one executor about programs: each is answered once, however often it arrives. */
export class ProgramQuestions {
  readonly #ports: Ports;
  readonly #open = new Map<string, AbortController>();
  readonly #answered = new Map<string, ProgramAnswer>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  ask({ type: _, ...question }: Extract<ExecutorMessage, { type: "program_question" }>): void {
    const { questionId } = question;
    const answered = this.#answered.get(questionId);
    if (answered !== undefined) this.#post(questionId, answered);
    else if (!this.#open.has(questionId)) void this.#answer(question);
  }

  withdraw(questionId: string): void {
    this.#open.get(questionId)?.abort();
  }

  /** The sessions that asked are gone. */
  drop(): void {
    for (const open of this.#open.values()) open.abort();
  }

  async #answer(question: AskedProgram): Promise<void> {
    const { questionId } = question;
    const withdrawn = new AbortController();
    this.#open.set(questionId, withdrawn);
    const release = this.#ports.holdDeadlines();
    const answer = await this.#ports.answer(question, withdrawn.signal).catch(() => "unasked" as const);
    this.#open.delete(questionId);
    release();
    if (withdrawn.signal.aborted) return;
    this.#answered.set(questionId, answer);
    evictOldest(this.#answered, KEPT_ANSWERS);
    this.#post(questionId, answer);
  }

  #post(questionId: string, decision: ProgramAnswer): void {
    this.#ports.post({ type: "program_answer", questionId, decision }).catch(() => {});
  }
}
