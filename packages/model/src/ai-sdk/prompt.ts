import { asFunctionItems } from "../function-items.js";
import { type Item, isOutput, textOf } from "../items.js";
import { asObject, asText, parseJson } from "../json/members.js";
import type { ModelRequest } from "../model-port.js";
import type { ToolSpec } from "../tool-spec.js";
import type {
  AssistantPart,
  FilePart,
  LanguageModelCall,
  LanguageModelTool,
  Metadata,
  PromptMessage,
  ResultContent,
  TextPart,
  ToolResultPart,
} from "./language-model.js";

/** Item member with provider metadata that an AI SDK provider needs back. */
export const PROVIDER_DATA = "provider_data";

/** Converts a request to `doStream` options. Pure. */
export function buildCall(request: ModelRequest, provider: string): LanguageModelCall {
  const tools = request.tools.flatMap(describeTool);
  const format = request.text?.format;
  const schema = asObject(format?.schema);
  const effort = request.reasoning?.effort;
  return {
    prompt: buildPrompt(asFunctionItems(request.input)),
    ...(tools.length === 0 ? {} : { tools, toolChoice: { type: "auto" } }),
    ...(format === undefined || schema === undefined
      ? {}
      : { responseFormat: { type: "json", schema: { ...schema }, name: format.name } }),
    ...(effort === undefined ? {} : { providerOptions: { [provider]: { reasoningEffort: effort } } }),
  };
}

/** Free-form tools become functions; hosted tools are left out. */
function describeTool(spec: ToolSpec): LanguageModelTool[] {
  const { type } = spec;
  if (type === "web_search") return [];
  const { name, description } = spec;
  const inputSchema =
    type === "function"
      ? { ...spec.parameters }
      : { type: "object", properties: { input: { type: "string" } }, required: ["input"], additionalProperties: false };
  return [{ type: "function", name, description, inputSchema }];
}

/**
 * Converts a history to a prompt. Leading developer messages become the system message, later ones user text in tags;
 * consecutive items of one role are merged.
 */
function buildPrompt(items: readonly Item[]): PromptMessage[] {
  const firstOther = items.findIndex((item) => item.role !== "developer");
  const leading = items.slice(0, firstOther === -1 ? items.length : firstOther);
  const system = leading.map(textOf).filter((text) => text !== "");
  const names = new Map(
    items
      .map((item) => [asText(item.call_id) ?? "", asText(item.name) ?? ""] as const)
      .filter(([, name]) => name !== ""),
  );
  const messages: PromptMessage[] = system.length === 0 ? [] : [{ role: "system", content: system.join("\n\n") }];
  for (const item of items.slice(leading.length)) {
    const message = readMessage(item, names);
    const last = messages.at(-1);
    if (message === undefined) continue;
    if (last?.role === "user" && message.role === "user") last.content.push(...message.content);
    else if (last?.role === "assistant" && message.role === "assistant") last.content.push(...message.content);
    else if (last?.role === "tool" && message.role === "tool") last.content.push(...message.content);
    else messages.push(message);
  }
  return messages;
}

function readMessage(item: Item, names: ReadonlyMap<string, string>): PromptMessage | undefined {
  if (isOutput(item)) return { role: "tool", content: [readResult(item, names)] };
  if (item.type === "message" && item.role !== "assistant") {
    const content = readUserParts(item);
    return content.length === 0 ? undefined : { role: "user", content };
  }
  const part = readAssistantPart(item);
  return part === undefined ? undefined : { role: "assistant", content: [part] };
}

function readUserParts(item: Item): (TextPart | FilePart)[] {
  if (item.role === "developer") return [{ type: "text", text: `<developer>\n${textOf(item)}\n</developer>` }];
  const parts: readonly unknown[] = Array.isArray(item.content) ? item.content : [];
  return parts.flatMap((part): (TextPart | FilePart)[] => {
    const object = asObject(part);
    const text = asText(object?.text);
    if (text !== undefined) return text === "" ? [] : [{ type: "text", text }];
    const url = asText(object?.image_url);
    return url === undefined ? [] : [readImage(url)];
  });
}

function readImage(url: string): FilePart {
  const data = parseDataUrl(url);
  return data === undefined
    ? { type: "file", mediaType: "image/*", data: new URL(url) }
    : { type: "file", mediaType: data.mediaType, data: data.base64 };
}

function parseDataUrl(url: string): { mediaType: string; base64: string } | undefined {
  const [, mediaType, base64] = /^data:([\w.+/-]+);base64,(.*)$/s.exec(url) ?? [];
  return mediaType === undefined || base64 === undefined ? undefined : { mediaType, base64 };
}

function readAssistantPart(item: Item): AssistantPart | undefined {
  const data = asObject(item[PROVIDER_DATA]);
  const provided = data === undefined ? {} : { providerOptions: data as Record<string, Metadata> }; // stored unchanged from the provider
  switch (item.type) {
    case "message": {
      const text = textOf(item);
      return text === "" ? undefined : { type: "text", text, ...provided };
    }
    case "reasoning": {
      // Only the provider that created it can verify it.
      if (data === undefined) return undefined;
      const [part]: readonly unknown[] = Array.isArray(item.summary) ? item.summary : [];
      return { type: "reasoning", text: asText(asObject(part)?.text) ?? "", ...provided };
    }
    case "function_call": {
      const [toolCallId, toolName] = [asText(item.call_id) ?? "", asText(item.name) ?? ""];
      return {
        type: "tool-call",
        toolCallId,
        toolName,
        input: parseJson(asText(item.arguments) ?? "") ?? {},
        ...provided,
      };
    }
    default:
      return undefined;
  }
}

function readResult(item: Item, names: ReadonlyMap<string, string>): ToolResultPart {
  const toolCallId = asText(item.call_id) ?? "";
  const toolName = names.get(toolCallId) ?? "";
  const { output } = item;
  if (!Array.isArray(output)) {
    return { type: "tool-result", toolCallId, toolName, output: { type: "text", value: asText(output) ?? "" } };
  }
  const parts: readonly unknown[] = output;
  const value = parts.flatMap((part): ResultContent[] => {
    const object = asObject(part);
    const text = asText(object?.text);
    if (text !== undefined) return [{ type: "text", text }];
    const data = parseDataUrl(asText(object?.image_url) ?? "");
    return data === undefined ? [] : [{ type: "image-data", data: data.base64, mediaType: data.mediaType }];
  });
  return { type: "tool-result", toolCallId, toolName, output: { type: "content", value } };
}
