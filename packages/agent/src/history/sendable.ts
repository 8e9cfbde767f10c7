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
  const calls = new Set<string>();
  const answered = new Set<string>();
  let amiss = false;
  for (const item of history) {
    if (isCall(item)) calls.add(idOf(item));
    else if (isOutput(item)) {
      if (!calls.has(idOf(item)) || answered.has(idOf(item))) amiss = true;
      answered.add(idOf(item));
    }
  }
  if (!amiss && [...calls].every((id) => answered.has(id))) return history;
  const seen = new Set<string>();
  const told = new Set<string>();
  return history.flatMap((item): Item[] => {
    if (isOutput(item)) {
      if (!seen.has(idOf(item)) || told.has(idOf(item))) return [];
      told.add(idOf(item));
      return [item];
    }
    if (!isCall(item)) return [item];
    seen.add(idOf(item));
    const call = item as CallItem; // a history holds well-formed calls only
    return answered.has(call.call_id) ? [item] : [item, createOutput(call, explainLost(call))];
  });
}

const idOf = (item: Item): string => asText(item.call_id) ?? "";
