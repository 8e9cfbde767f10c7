import { type GateRule, MAX_JUDGED_WORDS, type ProgramQuestion, type ProgramVerdict } from "@codex/exec-gate";
import { evictOldest } from "@codex/values";
import { MAX_REFUSED_CALLERS, MAX_REPORTED_CHARACTERS } from "../limits.js";
import type { Command } from "./command-table.js";
import type { ReadCall } from "./judge-call.js";
import type { Notification } from "./listener.js";
import type { FromSupervisor } from "./messages.js";
import { cutWords } from "./reports.js";

/** A caller that waits for the answer to a question. */
export interface WaitingCaller {
  readonly notification: Notification;
  readonly command: Command;
  readonly call: ReadCall;
  /** The rule that asks. */
  readonly rule: GateRule;
}

/** Why a program is refused that a rule asks about. */
export type Refusal = Exclude<ProgramVerdict, "run" | "outside">;

interface OpenQuestion {
  readonly id: number;
  readonly mark: bigint;
  /** What an answer covers. */
  readonly key: string;
  /** Milliseconds on the clock. */
  readonly deadline: number;
  /** At least one. */
  readonly callers: WaitingCaller[];
}

/** What was asked for one command. */
interface Asked {
  count: number;
  /** By thread, what was refused last: a shell tries the next directory of PATH then, which is not asked about again. */
  readonly refused: Map<number, { words: string; why: Refusal }>;
}

type Sent = Extract<FromSupervisor, { type: "question" | "withdrawn" }>;

/** The open questions about programs. Callers of the same program, with the same words in the same directory, wait for one answer. */
export class Questions {
  readonly #send: (message: Sent) => void;
  readonly #now: () => number;
  readonly #open = new Map<number, OpenQuestion>();
  readonly #asked = new Map<bigint, Asked>();
  #nextId = 0;

  /** @param now the clock, milliseconds */
  constructor(send: (message: Sent) => void, now: () => number) {
    this.#send = send;
    this.#now = now;
  }

  get isOpen(): boolean {
    return this.#open.size > 0;
  }

  /** `waits`: it is answered later. Otherwise why its program is refused at once. */
  add(caller: WaitingCaller, cwd: string | undefined): "waits" | Refusal {
    const { command, call, notification, rule } = caller;
    const { mark, questions } = command;
    if (questions === undefined) return "unasked";
    const { program } = call;
    const name = program.file ?? program.given ?? program.argv[0] ?? "";
    const key = JSON.stringify([name, call.argv.map((word) => word.toString("latin1")), cwd, rule.id]);
    const asked = this.#asked.get(mark) ?? { count: 0, refused: new Map() };
    this.#asked.set(mark, asked);
    const before = asked.refused.get(notification.tid);
    if (before?.words === wordsOf(caller)) return before.why;
    const isCut = call.argv.length > MAX_JUDGED_WORDS || lengthOf(program.argv) > MAX_REPORTED_CHARACTERS;
    const same = isCut ? undefined : [...this.#open.values()].find((each) => each.mark === mark && each.key === key);
    if (same !== undefined) {
      same.callers.push(caller);
      return "waits";
    }
    if (asked.count >= questions.most) return "unasked";
    asked.count += 1;
    const id = this.#nextId++;
    this.#open.set(id, { id, mark, key, deadline: this.#now() + questions.timeoutMs, callers: [caller] });
    const question: ProgramQuestion = {
      program: name,
      argv: cutWords(program.argv),
      cwd,
      rule: rule.id,
      ...(isCut ? { isCut } : {}),
      ...(command.leaving !== undefined && rule.place.kind === "outside" ? { outside: rule.place.profile } : {}),
    };
    this.#send({ type: "question", mark, id, question });
    return "waits";
  }

  /** The callers that have waited for this answer; none if it is withdrawn. */
  take(id: number): readonly WaitingCaller[] {
    const callers = this.#open.get(id)?.callers ?? [];
    this.#open.delete(id);
    return callers;
  }

  /** The callers whose time is over; their questions are withdrawn. */
  takeOverdue(): readonly WaitingCaller[] {
    const now = this.#now();
    return this.#withdraw(({ deadline }) => deadline <= now);
  }

  /** The callers of a command, or of all; their questions are withdrawn. */
  takeAll(mark?: bigint): readonly WaitingCaller[] {
    const callers = this.#withdraw((each) => mark === undefined || each.mark === mark);
    if (mark === undefined) this.#asked.clear();
    else this.#asked.delete(mark);
    return callers;
  }

  /** Removes callers that are gone, and withdraws the questions for which nobody waits any more. */
  takeGone(isGone: (caller: WaitingCaller) => boolean): readonly WaitingCaller[] {
    const gone: WaitingCaller[] = [];
    for (const { callers } of this.#open.values()) {
      const left = callers.filter((caller) => !isGone(caller));
      gone.push(...callers.filter((caller) => !left.includes(caller)));
      callers.splice(0, callers.length, ...left);
    }
    this.#withdraw(({ callers }) => callers.length === 0);
    return gone;
  }

  /** It was refused, and its caller may try the same elsewhere. */
  noteRefused(caller: WaitingCaller, why: Refusal): void {
    const refused = this.#asked.get(caller.command.mark)?.refused;
    refused?.set(caller.notification.tid, { words: wordsOf(caller), why });
    if (refused !== undefined) evictOldest(refused, MAX_REFUSED_CALLERS);
  }

  #withdraw(isMeant: (question: OpenQuestion) => boolean): WaitingCaller[] {
    const meant = [...this.#open.values()].filter(isMeant);
    for (const { id, mark } of meant) {
      this.#open.delete(id);
      this.#send({ type: "withdrawn", mark, id });
    }
    return meant.flatMap(({ callers }) => callers);
  }
}

const lengthOf = (words: readonly string[]): number => words.reduce((sum, word) => sum + word.length + 1, 0);

const wordsOf = ({ call }: WaitingCaller): string => JSON.stringify(call.argv.map((word) => word.toString("latin1")));
