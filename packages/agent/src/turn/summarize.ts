import { type Clock, pause } from "@codex/clock";
import { decideRetry, type Item, ModelError, type RetryLimits } from "@codex/model";
import type { AgentEvent } from "../events/agent-event.js";
import { compactionInput } from "../history/compaction.js";
import type { TurnLimits } from "../limits.js";

/** Options of {@link summarize}. */
export interface SummaryOptions {
  readonly items: readonly Item[];
  readonly prompt: string;
  /** Initial messages of the history, which are never dropped. */
  readonly first: readonly Item[];
  /** Sends one request to the model. */
  readonly ask: (input: readonly Item[]) => Promise<string>;
  readonly retry: RetryLimits;
  readonly limits: TurnLimits;
  readonly clock: Clock;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly emit: (event: AgentEvent) => Promise<void>;
}

/**
 * Requests a summary of a history. If the history is too long, its oldest items are dropped.
 * @throws ModelError when the model returns none
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
      const count = `${attempt}/${retry.streamRetries}`;
      await emit({ type: "retry", message: describeRetry(count, again.delayMs, error.message), discarded: [] });
      await pause(clock, again.delayMs, signal);
      attempt += 1;
    }
  }
}

/** Drops the older half of the items after the initial messages. */
function dropOldest(history: readonly Item[], first: number): readonly Item[] {
  const rest = history.slice(first);
  return [...history.slice(0, first), ...rest.slice(Math.ceil(rest.length / 2))];
}

/** Message to the user about a retry. */
export const describeRetry = (count: string, delayMs: number, reason: string): string =>
  `Reconnecting... ${count} (${reason})${delayMs >= 10_000 ? `; waiting ${Math.round(delayMs / 1000)} s` : ""}`;
