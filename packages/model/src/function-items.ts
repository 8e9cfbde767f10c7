import type { CallOutputItem, Item } from "./items.js";

/** Converts custom calls and outputs for an endpoint that supports functions only. Pure. */
export function asFunctionItems(history: readonly Item[]): readonly Item[] {
  return history.map((item) => {
    if (item.type === "custom_tool_call") {
      const { input, ...rest } = item;
      return { ...rest, type: "function_call", arguments: JSON.stringify({ input }) };
    }
    return item.type === "custom_tool_call_output"
      ? ({ ...item, type: "function_call_output" } as CallOutputItem)
      : item;
  });
}
