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
  /** Maximum bytes of user messages to keep; the oldest are dropped first, and the newest is cut. */
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
  const kept = own.toReversed().flatMap((item, index) => {
    const bytes = sizeOf(item);
    left -= bytes;
    if (left >= 0) return [item];
    return index === 0 ? [cutMessage(item, userBytes)] : [];
  });
  const dropped = own.length - kept.length;
  const note = dropped === 0 ? "" : `\n(${dropped} earlier messages of the user were left out.)`;
  const summarized = createMessage("user", `${SUMMARY_OPENING}${note}\n\n${summary}`);
  return { items: [...first, ...kept.toReversed(), summarized], dropped };
}

const sizeOf = (value: unknown): number => ENCODER.encode(JSON.stringify(value)).length;

const ENCODER = new TextEncoder();

/** A message of at most about `bytes` bytes: texts lose their middle, and what else does not fit is replaced by a note. */
function cutMessage(item: Item, bytes: number): Item {
  const content: readonly unknown[] = Array.isArray(item.content) ? item.content : [];
  let left = bytes;
  const kept = content.map((part) => {
    const size = sizeOf(part);
    const isText = typeof part === "object" && part !== null && "text" in part && typeof part.text === "string";
    const cut = size <= left ? part : isText ? { ...part, text: cutMiddle(String(part.text), left) } : LEFT_OUT;
    left = Math.max(0, left - Math.min(size, sizeOf(cut)));
    return cut;
  });
  return { ...item, content: kept };
}

const LEFT_OUT = { type: "input_text", text: "[an image of this message is left out]" } as const;

/** Both ends: a question is at the beginning or the end of what was pasted. */
function cutMiddle(text: string, bytes: number): string {
  const encoded = ENCODER.encode(text);
  const half = Math.floor(bytes / 2);
  if (encoded.length <= 2 * half) return text;
  const isInner = (at: number) => (encoded[at]! & 0xc0) === 0x80;
  let first = half;
  while (first > 0 && isInner(first)) first -= 1;
  let last = encoded.length - half;
  while (last < encoded.length && isInner(last)) last += 1;
  const decode = (from: number, to: number) =>
    new TextDecoder("utf-8", { ignoreBOM: true }).decode(encoded.subarray(from, to));
  return `${decode(0, first)}\n[${last - first} bytes are left out]\n${decode(last, encoded.length)}`;
}
