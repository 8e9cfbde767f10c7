import { asText } from "../json.js";
import { type CallItem, createOutput, type Item, isCall, isOutput } from "../model/items.js";

/** Types of items that an endpoint makes and wants to see again. */
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
 * A history as it can be sent: each call has its output behind it, made up by `explainLost` where it was lost, and no output
 * is without its call. Pure; gives the same list when nothing is amiss.
 */
export function completeCalls(history: readonly Item[], explainLost: (call: CallItem) => string): readonly Item[] {
  const amiss = pairCalls(history);
  if (amiss.size === 0) return history;
  return history.flatMap((item): Item[] => {
    const problem = amiss.get(item);
    if (problem === undefined) return [item];
    if (problem === "stray") return [];
    const call = item as CallItem; // a history holds well-formed calls only
    return [item, createOutput(call, explainLost(call))];
  });
}

/** Calls without an output, and outputs without a call: an id may come again once its call is answered. */
function pairCalls(history: readonly Item[]): Map<Item, "lost" | "stray"> {
  const amiss = new Map<Item, "lost" | "stray">();
  const open = new Map<string, Item>();
  for (const item of history) {
    if (isCall(item)) {
      const before = open.get(idOf(item));
      if (before !== undefined) amiss.set(before, "lost");
      open.set(idOf(item), item);
    } else if (isOutput(item) && !open.delete(idOf(item))) amiss.set(item, "stray");
  }
  for (const call of open.values()) amiss.set(call, "lost");
  return amiss;
}

const idOf = (item: Item): string => asText(item.call_id) ?? "";
