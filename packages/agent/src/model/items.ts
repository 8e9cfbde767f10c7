/**
 * One item of the Responses API, as it is sent and received. Members that are not known here are kept and sent back, so
 * that an endpoint finds its own items as it made them.
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

/** What somebody said: the user, the developer (this program), or the model. */
export interface MessageItem extends Item {
  readonly type: "message";
  readonly role: "developer" | "user" | "assistant";
  readonly content: readonly ContentPart[];
}

/** A call of a function; `arguments` is JSON text. */
export interface FunctionCallItem extends Item {
  readonly type: "function_call";
  readonly call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly namespace?: string;
}

/** A call of a tool that takes free text. */
export interface CustomToolCallItem extends Item {
  readonly type: "custom_tool_call";
  readonly call_id: string;
  readonly name: string;
  readonly input: string;
}

/** A call of either form. */
export type CallItem = FunctionCallItem | CustomToolCallItem;

/** What a tool answered: text, or parts when there is an image among it. */
export type ToolOutput = string | readonly ContentPart[];

/** The answer to a call, of the call's own form. */
export interface CallOutputItem extends Item {
  readonly type: "function_call_output" | "custom_tool_call_output";
  readonly call_id: string;
  readonly output: ToolOutput;
}

/** A message of one text. */
export const createMessage = (role: MessageItem["role"], ...texts: readonly string[]): MessageItem => ({
  type: "message",
  role,
  content: texts.map((text) => ({ type: role === "assistant" ? "output_text" : "input_text", text })),
});

/** The answer to a call, in the call's own form. */
export const createOutput = (call: Pick<CallItem, "type" | "call_id">, output: ToolOutput): CallOutputItem => ({
  type: `${call.type}_output`,
  call_id: call.call_id,
  output,
});

/** Whether an item is a call, well formed or not. */
export const isCall = (item: Item): boolean => item.type === "function_call" || item.type === "custom_tool_call";

/** Whether an item is the answer to a call. */
export const isOutput = (item: Item): item is CallOutputItem =>
  item.type === "function_call_output" || item.type === "custom_tool_call_output";

/** The text of a message; what it refused counts as text. Empty for anything else. */
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
