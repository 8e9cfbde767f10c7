import { defined } from "@codex/values";
import type { Item } from "../items.js";
import { asCount, asObject, asText, type JsonObject, parseJson } from "../json/members.js";
import { ModelError, type ModelEvent, type Usage } from "../model-port.js";
import { readIncomplete, readResponseFailure } from "../requests/failure.js";

/**
 * Converts a stream event to a `ModelEvent`, or to the error that ended the response; undefined for unknown events and
 * invalid JSON.
 * @param data the `data` of a server-sent event; its type is in the JSON
 */
export function readStreamEvent(data: string): ModelEvent | ModelError | undefined {
  const event = asObject(parseJson(data));
  switch (event?.type) {
    case "response.output_item.done":
      return readItem(asObject(event.item));
    case "response.completed":
      return readCompleted(asObject(event.response), event);
    case "response.failed": {
      const error = asObject(asObject(event.response)?.error);
      return readResponseFailure(asText(error?.code), asText(error?.message) ?? "");
    }
    case "response.incomplete":
      return readIncomplete(asText(asObject(asObject(event.response)?.incomplete_details)?.reason));
    case "error": {
      const error = asObject(event.error) ?? event;
      return readResponseFailure(asText(error.code) ?? undefined, asText(error.message) ?? "");
    }
    case "response.output_text.delta":
      return readDelta("text_delta", event);
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return readDelta("reasoning_delta", event);
    default:
      return undefined;
  }
}

function readDelta(type: "text_delta" | "reasoning_delta", event: JsonObject): ModelEvent | undefined {
  const text = asText(event.delta);
  const itemId = asText(event.item_id);
  return text === undefined ? undefined : { type, text, ...defined({ itemId }) };
}

function readItem(item: JsonObject | undefined): ModelEvent | undefined {
  const type = asText(item?.type);
  if (item === undefined || type === undefined) return undefined;
  if (type === "message" && item.role !== "assistant")
    return { type: "notice", message: `A message in the role ${JSON.stringify(item.role)} was left out.` };
  const problem = findCallProblem(type, item);
  if (problem === undefined) return { type: "item_done", item: item as Item }; // `type` is a string
  const name = asText(item.name) ?? "a tool";
  return { type: "notice", message: `The model's call of ${name} was dropped: ${problem}.` };
}

/** Why a call is malformed; undefined when it is valid. */
function findCallProblem(type: string, item: JsonObject): string | undefined {
  const input = type === "function_call" ? "arguments" : type === "custom_tool_call" ? "input" : undefined;
  if (input === undefined) return undefined;
  if ((asText(item.call_id) ?? "") === "") return "it has no call_id, so it cannot be answered";
  if ((asText(item.name) ?? "") === "") return "it has no name";
  const value = item[input];
  return typeof value === "string" ? undefined : `its ${input} is ${describe(value)}; expected text`;
}

const describe = (value: unknown): string =>
  value === undefined || value === null ? "missing" : Array.isArray(value) ? "a list" : `of type ${typeof value}`;

function readCompleted(response: JsonObject | undefined, event: JsonObject): ModelEvent | ModelError {
  const responseId = asText(response?.id);
  if (response === undefined || responseId === undefined) {
    return new ModelError("stream_cut", "response.completed has no response.id", { retry: "stream" });
  }
  const usage = readUsage(asObject(response.usage));
  const endTurn = response.end_turn ?? event.end_turn;
  return {
    type: "completed",
    responseId,
    ...defined({ usage }),
    ...(typeof endTurn === "boolean" ? { endTurn } : {}),
  };
}

function readUsage(usage: JsonObject | undefined): Usage | undefined {
  if (usage === undefined) return undefined;
  const input = asObject(usage.input_tokens_details);
  const inputTokens = asCount(usage.input_tokens) ?? 0;
  const outputTokens = asCount(usage.output_tokens) ?? 0;
  return {
    inputTokens,
    cachedInputTokens: asCount(input?.cached_tokens) ?? 0,
    cacheWriteInputTokens: asCount(input?.cache_write_tokens) ?? 0,
    outputTokens,
    reasoningOutputTokens: asCount(asObject(usage.output_tokens_details)?.reasoning_tokens) ?? 0,
    totalTokens: asCount(usage.total_tokens) ?? inputTokens + outputTokens,
  };
}
