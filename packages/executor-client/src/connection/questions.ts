import type { ExecutorMessage, HostAnswer, OrchestratorMessage, ProgramAnswer } from "@codex/executor-protocol";
import { evictOldest } from "@codex/values";

type Question = Extract<ExecutorMessage, { type: "program_question" | "host_question" }>;
type Answer = Extract<OrchestratorMessage, { type: "program_answer" | "host_answer" }>;

/** A program that a command of this executor starts, and that a rule asks about. */
export type AskedProgram = Omit<Extract<Question, { type: "program_question" }>, "type">;
/** A host that a command of this executor wants to reach, and that no rule decides about. */
export type AskedHost = Omit<Extract<Question, { type: "host_question" }>, "type">;

/** What a command has done about hosts since its start. */
export type HostReport = Omit<Extract<ExecutorMessage, { type: "host_report" }>, "type">;

/** Decides about a program. The signal aborts when the answer is not needed any more. A rejection counts as `unasked`. */
export type AnswerProgram = (question: AskedProgram, signal: AbortSignal) => Promise<ProgramAnswer>;
/** The same for a host. */
export type AnswerHost = (question: AskedHost, signal: AbortSignal) => Promise<HostAnswer>;

interface Ports {
  readonly answerProgram: AnswerProgram;
  readonly answerHost: AnswerHost;
  /** Rejects where there is no channel: the question is repeated over the next one. */
  readonly post: (message: Answer) => Promise<void>;
  /** No deadline of a call passes until the returned function is called. */
  readonly holdDeadlines: () => () => void;
}

/** Answers that may have been lost with a channel. */
const KEPT_ANSWERS = 256;

/** The questions of one executor: each is answered once, however often it arrives. */
export class Questions {
  readonly #ports: Ports;
  readonly #open = new Map<string, AbortController>();
  readonly #answered = new Map<string, Answer>();

  constructor(ports: Ports) {
    this.#ports = ports;
  }

  ask(question: Question): void {
    const { questionId } = question;
    const answered = this.#answered.get(questionId);
    if (answered !== undefined) this.#post(answered);
    else if (!this.#open.has(questionId)) void this.#answer(question);
  }

  withdraw(questionId: string): void {
    this.#open.get(questionId)?.abort();
  }

  /** The sessions that asked are gone. */
  drop(): void {
    for (const open of this.#open.values()) open.abort();
  }

  async #answer(question: Question): Promise<void> {
    const { questionId } = question;
    const withdrawn = new AbortController();
    this.#open.set(questionId, withdrawn);
    const release = this.#ports.holdDeadlines();
    const answer = await this.#decide(question, withdrawn.signal);
    this.#open.delete(questionId);
    release();
    if (withdrawn.signal.aborted) return;
    this.#answered.set(questionId, answer);
    evictOldest(this.#answered, KEPT_ANSWERS);
    this.#post(answer);
  }

  async #decide(question: Question, signal: AbortSignal): Promise<Answer> {
    const { questionId } = question;
    const unasked = () => "unasked" as const;
    if (question.type === "host_question") {
      const { type: _, ...asked } = question;
      const decision = await this.#ports.answerHost(asked, signal).catch(unasked);
      return { type: "host_answer", questionId, decision };
    }
    const { type: _, ...asked } = question;
    const decision = await this.#ports.answerProgram(asked, signal).catch(unasked);
    return { type: "program_answer", questionId, decision };
  }

  #post(answer: Answer): void {
    this.#ports.post(answer).catch(() => {});
  }
}
