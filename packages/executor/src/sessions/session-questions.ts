import { randomUUID } from "node:crypto";
import type { Clock } from "@codex/clock";
import type { HostQuestions, ProgramQuestions } from "@codex/exec-backend";
import type {
  ExecGate,
  ExecutorMessage,
  HostVerdict,
  ManagedNetwork,
  OrchestratorMessage,
  ProgramVerdict,
} from "@codex/executor-protocol";

type QuestionMessage = Extract<ExecutorMessage, { type: "program_question" | "host_question" | "question_withdrawn" }>;
type Question = Exclude<QuestionMessage, { type: "question_withdrawn" }>;
type Verdict = ProgramVerdict | HostVerdict;

/** The answer to a question. */
export type AnswerMessage = Extract<OrchestratorMessage, { type: "program_answer" | "host_answer" }>;

const ANSWERS = { program_question: "program_answer", host_question: "host_answer" } as const;

interface OpenQuestion {
  readonly message: Question;
  readonly settle: (verdict: Verdict) => void;
}

/** The open questions about the programs and hosts of one session, as the orchestrator is asked them. Meanwhile no time passes for the session. */
export class SessionQuestions {
  readonly #processId: number;
  readonly #send: (message: QuestionMessage) => void;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #listeners = new Set<() => void>();

  constructor(processId: number, send: (message: QuestionMessage) => void) {
    this.#processId = processId;
    this.#send = send;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** What waits, as a person reads it. */
  get waiting(): readonly string[] {
    return [...this.#open.values()].map(({ message }) => {
      if (message.type === "host_question") return `${message.host}:${message.port}`;
      return message.argv.length > 0 ? message.argv.join(" ") : message.program;
    });
  }

  /** Who is asked where a gate allows it; undefined for one that asks nobody. */
  forGate(gate: ExecGate | undefined): ProgramQuestions | undefined {
    const questions = gate?.questions;
    if (questions === undefined) return undefined;
    const { key, most, timeoutMs } = questions;
    const ask: ProgramQuestions["ask"] = (question, signal) =>
      this.#ask({ type: "program_question", ...this.#head(key), ...question }, signal);
    return { most, timeoutMs, ask };
  }

  /** The same for a network. */
  forNetwork(network: ManagedNetwork | undefined): HostQuestions | undefined {
    const questions = network?.questions;
    if (questions === undefined) return undefined;
    const { key, timeoutMs } = questions;
    const ask: HostQuestions["ask"] = (question, signal) =>
      this.#ask({ type: "host_question", ...this.#head(key), ...question }, signal);
    return { timeoutMs, ask };
  }

  /** Whether this answers an open question. */
  isAsked({ type, questionId }: AnswerMessage): boolean {
    const open = this.#open.get(questionId);
    return open !== undefined && ANSWERS[open.message.type] === type;
  }

  /** Without such an open question nothing happens. */
  answer(answer: AnswerMessage): void {
    if (!this.isAsked(answer)) return;
    this.#open.get(answer.questionId)?.settle(answer.decision === "end" ? "declined" : answer.decision);
  }

  /** Sends the open ones again: their messages may have been lost. */
  repeat(): void {
    for (const { message } of this.#open.values()) this.#send(message);
  }

  /** Calls `listener` when the first question is asked, and when the last one is answered or withdrawn. Returns a function that stops it. */
  watch(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #head(key: string) {
    return { questionId: randomUUID(), processId: this.#processId, key };
  }

  #ask<Asked extends Question>(
    message: Asked,
    signal: AbortSignal,
  ): Promise<Asked extends { type: "host_question" } ? HostVerdict : ProgramVerdict> {
    type Answer = Asked extends { type: "host_question" } ? HostVerdict : ProgramVerdict;
    if (signal.aborted) return Promise.resolve("unasked" as Answer);
    const { questionId } = message;
    const wasOpen = this.isOpen;
    const answer = new Promise<Answer>((resolve) => {
      const onAbort = () => {
        this.#send({ type: "question_withdrawn", questionId });
        settle("unasked");
      };
      const settle = (verdict: Verdict) => {
        this.#open.delete(questionId);
        signal.removeEventListener("abort", onAbort);
        if (!this.isOpen) this.#notify();
        resolve(verdict as Answer); // the message of an answer is that of its question
      };
      this.#open.set(questionId, { message, settle });
      signal.addEventListener("abort", onAbort, { once: true });
      this.#send(message);
    });
    if (!wasOpen) this.#notify();
    return answer;
  }

  #notify(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Like `clock.after`, but no time passes while a question is open. */
export function afterAnswers(questions: SessionQuestions, clock: Clock, ms: number, run: () => void): () => void {
  let left = ms;
  let since = 0;
  let stopTimer: (() => void) | undefined;
  const go = () => {
    since = clock.now();
    stopTimer = clock.after(left, () => {
      unwatch();
      run();
    });
  };
  const unwatch = questions.watch(() => {
    if (!questions.isOpen) return go();
    stopTimer?.();
    stopTimer = undefined;
    left = Math.max(0, left - (clock.now() - since));
  });
  if (!questions.isOpen) go();
  return () => {
    unwatch();
    stopTimer?.();
  };
}
