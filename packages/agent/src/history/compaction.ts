import { createMessage, type Item, type MessageItem } from "@codex/model";
import { partsOf } from "./context-sections.js";
import { TURN_ABORTED } from "./texts.js";

/** Default prompt that asks the model for a summary of the history. */
export const COMPACT_PROMPT = `The history of this conversation is about to be replaced by your next message. Write down everything that whoever goes on needs, and nothing else:
- what the person wants, in their words where these matter, and what they decided or refused;
- what was done and what is true now: files that were changed and how, commands and their outcomes, sessions that still run;
- what was found out, with paths, names and figures; what was tried and did not work;
- what is left to do, in order.
Do not call tools. Do not promise anything.`;

/** Prefix of a summary in the history. */
export const SUMMARY_OPENING = "The conversation up to here was replaced by this summary of it:";

/** Fraction of the context window at which a history is compacted by default. */
const WINDOW_FRACTION = 0.9;

/** Total tokens of a response at which the history is compacted. Pure. */
export const compactionLimit = (contextWindow: number, configured: number | undefined): number =>
  configured ?? Math.floor(contextWindow * WINDOW_FRACTION);

/** Input of the request for a summary. Pure. */
export const compactionInput = (history: readonly Item[], prompt: string): Item[] => [
  ...history,
  createMessage("user", prompt),
];

/** Input of {@link compactHistory}. */
export interface CompactionParts {
  /** Current initial messages of the history. */
  readonly first: readonly MessageItem[];
  readonly history: readonly Item[];
  /** Prefixes of context sections; messages that start with one were not written by the user. */
  readonly openings: readonly string[];
  readonly summary: string;
  /** Maximum bytes of user messages to keep; the oldest are dropped first. */
  readonly userBytes: number;
}

/** Compacts a history to initial messages, user messages and summary. `dropped`: number of user messages left out. Pure. */
export function compactHistory({ first, history, openings, summary, userBytes }: CompactionParts): {
  items: Item[];
  dropped: number;
} {
  const foreign = [...openings, SUMMARY_OPENING, TURN_ABORTED];
  const own = history.filter((item) => {
    const texts = partsOf(item, "user");
    return texts.length > 0 && !texts.some((text) => foreign.some((opening) => text.startsWith(opening)));
  });
  let left = userBytes;
  const kept = own.toReversed().filter((item) => {
    left -= new TextEncoder().encode(JSON.stringify(item)).length;
    return left >= 0;
  });
  const dropped = own.length - kept.length;
  const note = dropped === 0 ? "" : `\n(${dropped} earlier messages of the user were left out.)`;
  const summarized = createMessage("user", `${SUMMARY_OPENING}${note}\n\n${summary}`);
  return { items: [...first, ...kept.toReversed(), summarized], dropped };
}
