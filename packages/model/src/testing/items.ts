import { defined } from "@codex/values";
import type { Item } from "../items.js";

/** A message of the model. */
export const message = (text: string, id = "m1"): Item => ({
  type: "message",
  role: "assistant",
  id,
  content: [{ type: "output_text", text }],
});

/** A message in which the model refuses. */
export const refusal = (text: string, id = "m1"): Item => ({
  type: "message",
  role: "assistant",
  id,
  content: [{ type: "refusal", refusal: text }],
});

/** A reasoning item. */
export const reasoning = (text: string, id = "rs1"): Item => ({
  type: "reasoning",
  id,
  summary: [{ type: "summary_text", text }],
  encrypted_content: "opaque",
});

/** A function call; string `args` are sent unchanged. */
export const functionCall = (callId: string, name: string, args: object | string, namespace?: string): Item => ({
  type: "function_call",
  call_id: callId,
  name,
  ...defined({ namespace }),
  arguments: typeof args === "string" ? args : JSON.stringify(args),
});

/** A call of a free-form tool. */
export const customCall = (callId: string, name: string, input: string): Item => ({
  type: "custom_tool_call",
  call_id: callId,
  name,
  input,
});
