import { type CallItem, createOutput, type Item, isCall, isOutput } from "@codex/model";
import { asText } from "@codex/model/json";

/** Response item types that are sent back in later requests. */
const RECORDED: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "custom_tool_call",
  "web_search_call",
  "image_generation_call",
  "file_search_call",
  "code_interpreter_call",
  "compaction",
]);

/** Whether an item of a response becomes part of the history. */
export const isRecorded = (item: Item): boolean => RECORDED.has(item.type);

/**
 * Makes a history valid for sending: a call without an output gets one from `explainLost`, and an output without a call is
 * removed. Returns the same list when nothing changes. Pure.
 */
export function completeCalls(history: readonly Item[], explainLost: (call: CallItem) => string): readonly Item[] {
  const unpaired = findUnpaired(history);
  if (unpaired.size === 0) return history;
  return history.flatMap((item): Item[] => {
    const problem = unpaired.get(item);
    if (problem === undefined) return [item];
    if (problem === "orphan") return [];
    const call = item as CallItem; // a history contains well-formed calls only
    return [item, createOutput(call, explainLost(call))];
  });
}

/** Finds calls without an output (`lost`) and outputs without a call. An id may be reused once its call has an output. */
function findUnpaired(history: readonly Item[]): Map<Item, "lost" | "orphan"> {
  const unpaired = new Map<Item, "lost" | "orphan">();
  const open = new Map<string, Item>();
  for (const item of history) {
    if (isCall(item)) {
      const before = open.get(idOf(item));
      if (before !== undefined) unpaired.set(before, "lost");
      open.set(idOf(item), item);
    } else if (isOutput(item) && !open.delete(idOf(item))) unpaired.set(item, "orphan");
  }
  for (const call of open.values()) unpaired.set(call, "lost");
  return unpaired;
}

const idOf = (item: Item): string => asText(item.call_id) ?? "";
