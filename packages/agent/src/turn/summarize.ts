import { type Clock, pause } from "@codex/clock";
import type { AgentEvent } from "../events/agent-event.js";
import { compactionInput } from "../history/compaction.js";
import type { RetryLimits, TurnLimits } from "../limits.js";
import type { Item } from "../model/items.js";
import { ModelError } from "../model/model-port.js";
import { decideRetry } from "../model/retry.js";

/** What a summary is made with. */
export interface SummaryOptions {
  readonly items: readonly Item[];
  readonly prompt: string;
  /** The messages that a history begins with, which are never left out. */
  readonly first: readonly Item[];
  /** Asks the model once. */
  readonly ask: (input: readonly Item[]) => Promise<string>;
  readonly retry: RetryLimits;
  readonly limits: TurnLimits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => Promise<void>;
}

/**
 * A summary of a history. One that is too long even for that is shortened from its oldest end.
 * @throws ModelError when there is none to be had
 */
export async function summarize(options: SummaryOptions): Promise<string> {
  const { prompt, first, ask, retry, limits, clock, random, signal, emit } = options;
  let history = options.items;
  let shortened = 0;
  for (let attempt = 1; ; ) {
    try {
      const summary = await ask(compactionInput(history, prompt));
      if (summary.trim() !== "") return summary;
      throw new ModelError("response_failed", "the model gave no summary of the history", { retry: "stream" });
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof ModelError)) throw error;
      if (error.code === "context_too_long" && shortened < limits.compactionTries) {
        shortened += 1;
        history = dropOldest(history, first.length);
        continue;
      }
      const again = decideRetry(error, attempt, retry, random);
      if (again === undefined) throw error;
      const of = `${attempt}/${retry.streamRetries}`;
      await emit({ type: "retry", message: describeRetry(of, again.delayMs, error.message), discarded: [] });
      await pause(clock, again.delayMs, signal);
      attempt += 1;
    }
  }
}

/** Without the older half of what is behind the first messages. */
function dropOldest(history: readonly Item[], first: number): readonly Item[] {
  const rest = history.slice(first);
  return [...history.slice(0, first), ...rest.slice(Math.ceil(rest.length / 2))];
}

/** What the user is told when a model is asked again. */
export const describeRetry = (of: string, delayMs: number, reason: string): string =>
  `Reconnecting... ${of} (${reason})${delayMs >= 10_000 ? `; waiting ${Math.round(delayMs / 1000)} s` : ""}`;
