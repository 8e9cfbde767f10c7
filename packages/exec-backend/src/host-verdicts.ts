import type { HostQuestion, HostVerdict, NetworkDenial } from "@codex/executor-protocol";
import { evictOldest } from "@codex/values";
import type { HostQuestions, OnceVerdict } from "./exec-backend.js";
import { MAX_HOST_VERDICTS } from "./limits.js";

/** A host and port, whatever the protocol. */
export type HostPlace = Pick<HostQuestion, "host" | "port">;

/** Asks about the hosts of one process, and remembers the answers for it. */
export class HostVerdicts {
  readonly #questions: HostQuestions | undefined;
  readonly #verdicts = new Map<string, HostVerdict | OnceVerdict>();
  #isUnasked = false;

  constructor(questions: HostQuestions | undefined) {
    this.#questions = questions;
  }

  /** False once nobody could be asked. */
  get isAsking(): boolean {
    return this.#questions !== undefined && !this.#isUnasked;
  }

  allows(place: HostPlace): boolean {
    return this.#verdicts.get(keyOf(place)) === "allow";
  }

  /** Asks, unless there was an answer for this process before. Never rejects; without an answer in time it is `unanswered`. */
  async decide(question: HostQuestion, signal: AbortSignal): Promise<HostVerdict | OnceVerdict> {
    const key = keyOf(question);
    const known = this.#verdicts.get(key);
    if (known === "allow" || known === "declined") return known;
    const verdict = this.#questions === undefined ? "unasked" : await askInTime(this.#questions, question, signal);
    if (verdict === "unasked" && !signal.aborted) this.#isUnasked = true;
    this.#verdicts.delete(key);
    this.#verdicts.set(key, verdict);
    evictOldest(this.#verdicts, MAX_HOST_VERDICTS);
    return verdict;
  }

  /** Why the latest answer about a host denies it; undefined if there was none, or it allows it. */
  getDenial(place: HostPlace): NetworkDenial["answer"] {
    const verdict = this.#verdicts.get(keyOf(place));
    return verdict === undefined ? undefined : DENIALS[verdict];
  }
}

/** Whether an answer lets a command to a host. */
export const isAllowing = (verdict: HostVerdict | OnceVerdict): boolean => DENIALS[verdict] === undefined;

/** What a person is told of an answer that denies. */
const DENIALS: Readonly<Record<HostVerdict | OnceVerdict, NetworkDenial["answer"]>> = {
  allow: undefined,
  allow_for_session: undefined,
  allow_once: undefined,
  deny_once: "declined",
  declined: "declined",
  unasked: "unasked",
  unanswered: "unanswered",
};

const keyOf = ({ host, port }: HostPlace): string => JSON.stringify([host, port]);

async function askInTime(
  { ask, timeoutMs }: HostQuestions,
  question: HostQuestion,
  signal: AbortSignal,
): Promise<HostVerdict | OnceVerdict> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(), timeoutMs);
  try {
    const verdict = await ask(question, AbortSignal.any([signal, over.signal])).catch(() => "unasked" as const);
    return over.signal.aborted ? "unanswered" : verdict;
  } finally {
    clearTimeout(timer);
  }
}
