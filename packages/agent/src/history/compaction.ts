import { createMessage, type Item, type MessageItem } from "../model/items.js";
import { partsOf } from "./context-sections.js";
import { TURN_ABORTED } from "./texts.js";

/** What a model is asked when its history has to become shorter, unless a setting replaces it. */
export const COMPACT_PROMPT = `The history of this conversation is about to be replaced by your next message. Write down everything that whoever goes on needs, and nothing else:
- what the person wants, in their words where these matter, and what they decided or refused;
- what was done and what is true now: files that were changed and how, commands and their outcomes, sessions that still run;
- what was found out, with paths, names and figures; what was tried and did not work;
- what is left to do, in order.
Do not call tools. Do not promise anything.`;

/** What stands before a summary in the history. */
export const SUMMARY_OPENING = "The conversation up to here was replaced by this summary of it:";

/** Part of a model's window at which a history is compacted, where no limit is configured. */
const PART_OF_WINDOW = 0.9;

/** Tokens of the last response, history included, from which on a history is compacted. Pure. */
export const compactionLimit = (contextWindow: number, configured: number | undefined): number =>
  configured ?? Math.floor(contextWindow * PART_OF_WINDOW);

/** The history of a request for a summary. Pure. */
export const compactionInput = (history: readonly Item[], prompt: string): Item[] => [
  ...history,
  createMessage("user", prompt),
];

/** What a compacted history is made of. */
export interface CompactionParts {
  /** The messages that a history begins with, as they are now. */
  readonly first: readonly MessageItem[];
  readonly history: readonly Item[];
  /** Openings of context sections: messages that begin with one are not the user's own. */
  readonly openings: readonly string[];
  readonly summary: string;
  /** Bytes of the user's own messages that are kept; the oldest go first. */
  readonly userBytes: number;
}

/** The history after a compaction: first messages, the user's own, the summary. Pure. `dropped` counts messages that went. */
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
