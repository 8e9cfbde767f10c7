import { createMessage, type Item } from "../items.js";
import { asCount, asObject, asText, type JsonObject } from "../json/members.js";
import { ModelError, type ModelEvent, type Usage } from "../model-port.js";
import type { LanguageModelPart } from "./language-model.js";
import { PROVIDER_DATA } from "./prompt.js";

/** Converts stream parts to events: text becomes an item when it ends, a call when it is complete. */
export class PartReader {
  readonly #texts = new Map<string, string>();
  /** Provider metadata by text id, such as signatures; merged over all parts. */
  readonly #data = new Map<string, JsonObject>();
  #responseId = "";

  /** Converts a part to an event, or to the error that ended the response; undefined for unknown types. */
  read(part: LanguageModelPart): ModelEvent | ModelError | undefined {
    const id = asText(part.id) ?? "";
    if (TEXT_PART.test(part.type)) this.#data.set(id, merge(this.#data.get(id), asObject(part.providerMetadata)));
    switch (part.type) {
      case "response-metadata":
        this.#responseId = id === "" ? this.#responseId : id;
        return undefined;
      case "text-delta":
      case "reasoning-delta":
        return this.#delta(part.type === "text-delta" ? "text_delta" : "reasoning_delta", id, asText(part.delta) ?? "");
      case "text-end":
        return this.#end(id, (text) => ({ ...createMessage("assistant", text), id }));
      case "reasoning-end":
        return this.#end(id, (text) => ({ type: "reasoning", id, summary: [{ type: "summary_text", text }] }));
      case "tool-call":
        return part.providerExecuted === true ? undefined : readCall(part);
      case "finish":
        return this.#finish(part);
      case "error":
        return readPartError(part.error);
      default:
        return undefined;
    }
  }

  #delta(type: "text_delta" | "reasoning_delta", itemId: string, text: string): ModelEvent | undefined {
    if (text === "") return undefined;
    this.#texts.set(itemId, (this.#texts.get(itemId) ?? "") + text);
    return { type, itemId, text };
  }

  #end(id: string, create: (text: string) => Item): ModelEvent | undefined {
    const text = this.#texts.get(id) ?? "";
    const data = this.#data.get(id) ?? {};
    this.#texts.delete(id);
    this.#data.delete(id);
    // Reasoning may consist of a signature only, which the provider needs back.
    if (Object.keys(data).length > 0) return { type: "item_done", item: { ...create(text), [PROVIDER_DATA]: data } };
    return text === "" ? undefined : { type: "item_done", item: create(text) };
  }

  #finish(part: LanguageModelPart): ModelEvent | ModelError {
    const reason = asText(asObject(part.finishReason)?.unified) ?? asText(part.finishReason);
    if (reason === "length") return incomplete("max_output_tokens", "never");
    if (reason === "content-filter") return incomplete("content_filter", "stream");
    if (reason === "error")
      return new ModelError("response_failed", "the endpoint ended with an error", { retry: "stream" });
    return { type: "completed", responseId: this.#responseId, usage: readUsage(part.usage) };
  }
}

const incomplete = (reason: string, retry: "never" | "stream") =>
  new ModelError("incomplete", `the response is incomplete: ${reason}`, { retry });

const TEXT_PART = /^(?:text|reasoning)-(?:start|delta|end)$/;

/** Merges metadata by provider; the later one wins. */
function merge(one: JsonObject = {}, other: JsonObject = {}): JsonObject {
  const merged = Object.entries(other).map(([name, data]) => [name, { ...asObject(one[name]), ...asObject(data) }]);
  return { ...one, ...Object.fromEntries(merged) };
}

const providerData = ({ providerMetadata }: LanguageModelPart): Record<string, unknown> =>
  asObject(providerMetadata) === undefined ? {} : { [PROVIDER_DATA]: providerMetadata };

function readCall(part: LanguageModelPart): ModelEvent {
  const [callId, name, input] = [asText(part.toolCallId) ?? "", asText(part.toolName) ?? "", asText(part.input)];
  if (callId === "" || name === "" || input === undefined) {
    const what = callId === "" ? "an id" : name === "" ? "a name" : "text as its input";
    return { type: "notice", message: `The model's call of ${name || "a tool"} was dropped: it lacks ${what}.` };
  }
  const call = { type: "function_call", call_id: callId, name, arguments: input, ...providerData(part) };
  return { type: "item_done", item: call };
}

function readPartError(error: unknown): ModelError {
  const object = asObject(error);
  const nested = asObject(object?.error) ?? object;
  const message = asText(nested?.message) ?? asText(error) ?? "the endpoint gave no reason";
  return new ModelError("response_failed", message, { retry: "stream", cause: error });
}

function readUsage(value: unknown): Usage {
  const usage = asObject(value);
  const input = asObject(usage?.inputTokens);
  const output = asObject(usage?.outputTokens);
  const inputTokens = asCount(input?.total) ?? 0;
  const outputTokens = asCount(output?.total) ?? 0;
  return {
    inputTokens,
    cachedInputTokens: asCount(input?.cacheRead) ?? 0,
    cacheWriteInputTokens: asCount(input?.cacheWrite) ?? 0,
    outputTokens,
    reasoningOutputTokens: asCount(output?.reasoning) ?? 0,
    totalTokens: inputTokens + outputTokens,
  };
}
