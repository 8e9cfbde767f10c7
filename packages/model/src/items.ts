/**
 * An item of the Responses API, as sent and received. Unknown members are kept and sent back unchanged.
 */
export interface Item {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A part of a message or of a tool's output. `image_url` is a URL or a `data:` URL. */
export type ContentPart =
  | { readonly type: "input_text"; readonly text: string }
  | { readonly type: "output_text"; readonly text: string }
  | { readonly type: "refusal"; readonly refusal: string }
  | {
      readonly type: "input_image";
      readonly image_url: string;
      readonly detail?: "low" | "high" | "auto" | "original";
    };

/** A message of the user, the developer (this program) or the model. */
export interface MessageItem extends Item {
  readonly type: "message";
  readonly role: "developer" | "user" | "assistant";
  readonly content: readonly ContentPart[];
}

/** A function call; `arguments` is JSON text. */
export interface FunctionCallItem extends Item {
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly namespace?: string;
}

/** A call of a free-form tool. */
export interface CustomToolCallItem extends Item {
  readonly type: "custom_tool_call";
  readonly call_id: string;
  readonly name: string;
  readonly input: string;
}

/** A call of either type. */
export type CallItem = FunctionCallItem | CustomToolCallItem;

/** Output of a tool: text, or parts when it includes images. */
export type ToolOutput = string | readonly ContentPart[];

/** The output of a call, of the matching type. */
export interface CallOutputItem extends Item {
  readonly type: "function_call_output" | "custom_tool_call_output";
  readonly call_id: string;
  readonly output: ToolOutput;
}

/** Creates a message with text parts. */
export const createMessage = (role: MessageItem["role"], ...texts: readonly string[]): MessageItem => ({
  type: "message",
  role,
  content: texts.map((text) => ({ type: role === "assistant" ? "output_text" : "input_text", text })),
});

/** Creates the output of a call, of the matching type. */
export const createOutput = (call: Pick<CallItem, "type" | "call_id">, output: ToolOutput): CallOutputItem => ({
  type: `${call.type}_output`,
  call_id: call.call_id,
  output,
});

/** Whether an item is a call; it may be malformed. */
export const isCall = (item: Item): boolean => item.type === "function_call" || item.type === "custom_tool_call";

/** Whether an item is the output of a call. */
export const isOutput = (item: Item): item is CallOutputItem =>
  item.type === "function_call_output" || item.type === "custom_tool_call_output";

/** Text of a message, including refusals; empty for other items. */
export function textOf(item: Item): string {
  if (item.type !== "message" || !Array.isArray(item.content)) return "";
  const parts: readonly unknown[] = item.content;
  return parts.map(textOfPart).join("");
}

function textOfPart(part: unknown): string {
  if (typeof part !== "object" || part === null) return "";
  if ("text" in part && typeof part.text === "string") return part.text;
  return "refusal" in part && typeof part.refusal === "string" ? part.refusal : "";
}
