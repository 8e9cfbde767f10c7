import { waitUnlessAborted } from "@codex/clock";
import type { Target } from "@codex/network-policy";
import { evictOldest } from "@codex/values";
import type { DecisionEvent, Failure } from "./events.js";
import { MAX_NAMES, MAX_QUESTIONS } from "./limits.js";
import type { Wanted } from "./wanted.js";

/** Asked about a target that no rule decides. */
export interface Question {
  /** Whose connection it was that asked first. */
  client: string;
  target: Target;
}

/** How far an answer goes: for the connections that wait, for all of this client, or for all of the proxy's. */
export interface Answer {
  decision: "allow" | "deny";
  remember: "connection" | "client" | "proxy";
}

/**
 * Answers a question. `signal` aborts when nobody waits any more, after which the answer counts for nothing.
 * An answer that is none, or an error, denies.
 */
export type Ask = (question: Question, signal: AbortSignal) => Promise<Answer>;

interface Open {
  waiting: number;
  answer: Promise<Answer>;
  abort: AbortController;
}

type Decided =
  | { decision: "allow"; source: DecisionEvent["source"] }
  | { decision: "deny"; reason: Failure; source: DecisionEvent["source"] };

/** One question at a time for each client, host and port, however many connections wait for it; answers are remembered. */
export class Questions {
  readonly #ask: Ask | undefined;
  readonly #mayAsk: (client: string) => boolean;
  readonly #open = new Map<string, Open>();
  readonly #remembered = new Map<string, Answer["decision"]>();

  /** @param mayAsk whether somebody can be asked for this client */
  constructor(ask: Ask | undefined, mayAsk: (client: string) => boolean = () => true) {
    this.#ask = ask;
    this.#mayAsk = mayAsk;
  }

  /**
   * @param check called before a question is asked, and only then: it looks the name up, which tells it to others. Its error is that of everybody who waits
   */
  async ask(wanted: Wanted, check: () => Promise<unknown>): Promise<Decided> {
    const place = `${wanted.target.host.text} ${wanted.target.port}`;
    const own = `${wanted.client}\0${place}`;
    const remembered = this.#remembered.get(own) ?? this.#remembered.get(place);
    if (remembered === "allow") return { decision: "allow", source: "remembered" };
    if (remembered === "deny") return { decision: "deny", reason: "not_allowed", source: "remembered" };
    if (this.#ask === undefined || !this.#mayAsk(wanted.client))
      return { decision: "deny", reason: "not_allowed", source: "policy" };
    const earlier = this.#open.get(own);
    if (earlier === undefined && this.#open.size >= MAX_QUESTIONS) {
      return { decision: "deny", reason: "not_allowed", source: "limit" };
    }
    const open = earlier ?? this.#start(this.#ask, own, place, wanted, check);
    const { decision } = await this.#wait(open, wanted.signal);
    return decision === "allow"
      ? { decision, source: "asked" }
      : { decision: "deny", reason: "not_allowed", source: "asked" };
  }

  #start(ask: Ask, own: string, place: string, { client, target }: Wanted, check: () => Promise<unknown>): Open {
    const abort = new AbortController();
    const asked = check().then(() => answerOf(() => ask({ client, target }, abort.signal)));
    const forget = () => this.#open.delete(own);
    asked.catch(forget);
    const answer = asked.then((given) => {
      forget();
      if (given.remember !== "connection" && !abort.signal.aborted) {
        this.#remember(given.remember === "proxy" ? place : own, given.decision);
      }
      return given;
    });
    const open: Open = { waiting: 0, answer, abort };
    this.#open.set(own, open);
    return open;
  }

  async #wait(open: Open, signal: AbortSignal): Promise<Answer> {
    open.waiting += 1;
    try {
      const answer = await waitUnlessAborted(signal, open.answer);
      if (answer === undefined) throw signal.reason;
      return answer;
    } finally {
      open.waiting -= 1;
      if (open.waiting === 0) open.abort.abort();
    }
  }

  /** The oldest answer is forgotten: it is asked for again. */
  #remember(key: string, decision: Answer["decision"]): void {
    this.#remembered.set(key, decision);
    evictOldest(this.#remembered, MAX_NAMES);
  }
}

const DENIED: Answer = { decision: "deny", remember: "connection" };

async function answerOf(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    const answer = await ask();
    return answer?.decision === "allow" || answer?.decision === "deny" ? answer : DENIED;
  } catch {
    return DENIED;
  }
}
