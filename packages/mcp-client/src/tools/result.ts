import type { ToolCallOutcome } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { MAX_RESULT_BYTES } from "../limits.js";
import { cut } from "./text.js";

/**
 * The outcome of a call, for a model: the text of its content, and a line for each part that is not text. `structured.content` has
 * all parts unchanged if some are not text: images with `data` (base64) and `mimeType`.
 */
export function toOutcome(result: CallToolResult): ToolCallOutcome {
  const { content, structuredContent, isError } = result;
  const text = truncate(content.map(describePart).join("\n"));
  if (isError === true) return { status: "error", message: text === "" ? "the tool failed without a message" : text };
  const isText = content.every(({ type }) => type === "text");
  const structured = {
    ...defined({ structuredContent }),
    ...(isText ? {} : { content }),
  };
  const shown = text !== "" || structuredContent === undefined ? text : truncate(JSON.stringify(structuredContent));
  const isSmall = Buffer.byteLength(JSON.stringify(structured)) <= MAX_RESULT_BYTES;
  return {
    status: "success",
    content: [{ type: "input_text", text: shown }],
    ...(isSmall && Object.keys(structured).length > 0 ? { structured } : {}),
  };
}

function describePart(part: CallToolResult["content"][number]): string {
  switch (part.type) {
    case "text":
      return part.text;
    case "image":
    case "audio":
      return `[${part.type}: ${part.mimeType}, ${Buffer.byteLength(part.data, "base64")} bytes]`;
    case "resource_link":
      return `[resource: ${part.uri}]`;
    case "resource":
      return "text" in part.resource ? part.resource.text : `[resource: ${part.resource.uri}]`;
  }
}

function truncate(text: string): string {
  const shown = cut(text, MAX_RESULT_BYTES);
  if (shown === text) return text;
  return `${shown}\n[cut: the tool returned ${Buffer.byteLength(text)} bytes of text]`;
}
