import { randomUUID } from "node:crypto";
import type { Clock } from "@codex/clock";
import type { ProgramQuestions } from "@codex/exec-backend";
import type {
  ExecGate,
  ExecutorMessage,
  ProgramAnswer,
  ProgramQuestion,
  ProgramVerdict,
} from "@codex/executor-protocol";

type QuestionMessage = Extract<ExecutorMessage, { type: "program_question" | "program_question_withdrawn" }>;

interface OpenQuestion {
  readonly message: Extract<QuestionMessage, { type: "program_question" }>;
  readonly settle: (verdict: ProgramVerdict) => void;
}

/** The open questions about the programs of one session, as the orchestrator is asked them. Meanwhile no time passes for the session. */
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

  /** The programs that wait, as a person reads them. */
  get waiting(): readonly string[] {
    return [...this.#open.values()].map(({ message: { program, argv } }) =>
      argv.length > 0 ? argv.join(" ") : program,
    );
  }

  /** Who is asked where a gate allows it; undefined for one that asks nobody. */
  forGate(gate: ExecGate | undefined): ProgramQuestions | undefined {
    const questions = gate?.questions;
    if (questions === undefined) return undefined;
    const { key, most, timeoutMs } = questions;
    return { most, timeoutMs, ask: (question, signal) => this.#ask(key, question, signal) };
  }

  /** False if no such question is open. */
  answer(questionId: string, decision: ProgramAnswer): boolean {
    const open = this.#open.get(questionId);
    open?.settle(decision === "end" ? "declined" : decision);
    return open !== undefined;
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

  #ask(key: string, question: ProgramQuestion, signal: AbortSignal): Promise<ProgramVerdict> {
    if (signal.aborted) return Promise.resolve("unasked");
    const questionId = randomUUID();
    const wasOpen = this.isOpen;
    const answer = new Promise<ProgramVerdict>((resolve) => {
      const onAbort = () => {
        this.#send({ type: "program_question_withdrawn", questionId });
        settle("unasked");
      };
      const settle = (verdict: ProgramVerdict) => {
        this.#open.delete(questionId);
        signal.removeEventListener("abort", onAbort);
        if (!this.isOpen) this.#notify();
        resolve(verdict);
      };
      const message = { type: "program_question" as const, questionId, processId: this.#processId, key, ...question };
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
