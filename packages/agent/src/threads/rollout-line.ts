import { createMessage, type Item, isOutput, type Usage } from "@codex/model";
import { asCount, asObject, asText, type JsonObject, parseJson } from "@codex/model/json";
import { defined, stringifyWellFormed, toWellFormed } from "@codex/values";
import { readUsage } from "../events/usage.js";
import { isRecorded } from "../history/sendable.js";
import type { ThreadEntry } from "../history/thread-entry.js";

/** Payload of the first line: id and origin of the thread. */
export interface ThreadMeta {
  readonly id: string;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly cwd: string;
  readonly originator: string;
  readonly cli_version: string;
  readonly source: string;
  readonly model_provider: string;
  /** Thread it was forked from. */
  readonly forked_from_id?: string;
  /** Environment of its calls, unless this host. */
  readonly environment?: string;
}

/** Renders an entry as a line `{timestamp, type, payload}`. Codex reads those of its own types only. */
export function renderEntry(entry: ThreadEntry, timestamp: string): string {
  const { type, payload } = toLine(entry);
  return `${stringifyWellFormed({ timestamp, type, payload })}\n`;
}

function toLine(entry: ThreadEntry): { type: string; payload: object } {
  switch (entry.type) {
    case "item":
      return { type: "response_item", payload: entry.item };
    case "compacted": {
      const { items: replacement_history, tokensBefore: tokens_before, reason } = entry;
      return { type: "compacted", payload: { message: "", replacement_history, tokens_before, reason } };
    }
    case "prompt":
      return { type: "event_msg", payload: { type: "user_message", message: entry.text } };
    default: {
      const { type, ...payload } = entry;
      return { type, payload };
    }
  }
}

/** A line of a thread's file, written by this client or Codex. */
export interface ThreadLine {
  /** ISO 8601. */
  readonly timestamp: string;
  readonly type: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Parses a line; undefined unless it is a JSON object with a payload. */
export function parseLine(text: string): ThreadLine | undefined {
  const line = parseObject(text);
  const payload = asObject(line?.payload);
  if (payload === undefined) return undefined;
  return { timestamp: asText(line?.timestamp) ?? "", type: asText(line?.type) ?? "", payload };
}

/** Halves of surrogate pairs, which earlier versions and other programs wrote, are healed: some endpoints refuse them. */
const parseObject = (text: string): JsonObject | undefined => toWellFormed(asObject(parseJson(text)));

/** Parses a line to the entry that was appended; undefined for other lines, including those only Codex writes. */
export function parseEntry(text: string): { timestamp: string; entry: ThreadEntry } | undefined {
  const line = parseLine(text);
  if (line === undefined) return undefined;
  const { timestamp, type, payload } = line;
  if (type === "response_item") {
    const [item] = readItem(payload);
    return item && { timestamp, entry: { type: "item", item } };
  }
  if (type === "compacted") {
    const items = readCompacted(payload, []);
    const tokensBefore = asCount(payload.tokens_before) ?? 0;
    return { timestamp, entry: { type, items, tokensBefore, reason: asText(payload.reason) ?? "" } };
  }
  if (type === "event_msg" && payload.type === "user_message") {
    return { timestamp, entry: { type: "prompt", text: asText(payload.message) ?? "" } };
  }
  // Written by renderEntry; not validated again.
  return OWN_TYPES.has(type) ? { timestamp, entry: { ...payload, type } as ThreadEntry } : undefined;
}

const OWN_TYPES: ReadonlySet<string> = new Set([
  "turn_started",
  "call_started",
  "call_checkpoint",
  "call_finished",
  "functions_only",
  "usage",
  "turn_ended",
]);

/** State of a thread, built from its lines. */
export interface ReadThread {
  meta: ThreadMeta | undefined;
  items: Item[];
  usage: Usage | undefined;
  lastTokens: number;
  functionsOnly: boolean;
  /** Undefined when no line records calls, as in files written by Codex. */
  startedCalls: Set<string> | undefined;
  /** The last checkpoint of each call without an output, by its id. */
  checkpoints: Map<string, unknown>;
  /** A line is not JSON: its content is lost, possibly the record of a call. */
  hasGap: boolean;
}

/** Initial state, before any line. */
export const emptyThread = (): ReadThread => ({
  meta: undefined,
  items: [],
  usage: undefined,
  lastTokens: 0,
  functionsOnly: false,
  startedCalls: undefined,
  checkpoints: new Map(),
  hasGap: false,
});

/** Applies a line to a thread; unknown lines and invalid JSON are ignored. */
export function readLine(thread: ReadThread, text: string): void {
  const line = parseObject(text);
  const payload = asObject(line?.payload);
  if (line === undefined && text.trim() !== "") thread.hasGap = true;
  if (payload === undefined) return;
  switch (line?.type) {
    case "session_meta":
      thread.meta ??= readMeta(payload);
      return;
    case "response_item":
      thread.items.push(...readItem(payload));
      thread.checkpoints.delete(asText(payload.call_id) ?? "");
      return;
    case "compacted":
      thread.items = readCompacted(payload, thread.items);
      thread.lastTokens = 0;
      return;
    case "turn_started":
      thread.startedCalls ??= new Set();
      return;
    case "call_started":
      thread.startedCalls ??= new Set();
      thread.startedCalls.add(asText(payload.callId) ?? "");
      return;
    case "call_checkpoint":
      thread.checkpoints.set(asText(payload.callId) ?? "", payload.checkpoint);
      return;
    case "functions_only":
      thread.functionsOnly = true;
      return;
    case "usage":
      thread.usage = payload.total === undefined ? thread.usage : readUsage(asObject(payload.total) ?? {});
      thread.lastTokens = asCount(asObject(payload.usage)?.totalTokens) ?? thread.lastTokens;
      return;
  }
}

function readMeta(payload: JsonObject): ThreadMeta | undefined {
  const id = asText(payload.id);
  if (id === undefined) return undefined;
  const text = (name: string) => asText(payload[name]) ?? "";
  const forked = asText(payload.forked_from_id);
  const environment = asText(payload.environment);
  return {
    id,
    timestamp: text("timestamp"),
    cwd: text("cwd"),
    originator: text("originator"),
    cli_version: text("cli_version"),
    source: text("source"),
    model_provider: text("model_provider"),
    ...defined({ forked_from_id: forked, environment }),
  };
}

function readItem(payload: JsonObject): Item[] {
  if (asText(payload.type) === undefined) return [];
  const item = payload as Item; // `type` is a string
  return isRecorded(item) || isOutput(item) ? [item] : [];
}

/** Reads a replacement history; with only a summary, it is the user's messages and that summary. */
function readCompacted(payload: JsonObject, before: readonly Item[]): Item[] {
  if (Array.isArray(payload.replacement_history)) {
    const items: readonly unknown[] = payload.replacement_history;
    return items.flatMap((item) => readItem(asObject(item) ?? {}));
  }
  const own = before.filter((item) => item.type === "message" && item.role !== "assistant");
  return [...own, createMessage("user", asText(payload.message) ?? "")];
}
