import { defined, stringifyWellFormed } from "@codex/values";
import type { Item } from "../items.js";
import type { ModelRequest } from "../model-port.js";
import { createWrittenItems } from "./written-items.js";

/** Builds the JSON body of `POST /responses`. Pure. */
export function buildRequestBody(request: ModelRequest): Record<string, unknown> {
  const { model, input, tools, parallelToolCalls, reasoning = {}, text, promptCacheKey, serviceTier } = request;
  return {
    model,
    input: input.map(withoutIds),
    tools,
    tool_choice: "auto",
    parallel_tool_calls: parallelToolCalls,
    reasoning,
    store: false,
    stream: true,
    include: ["reasoning.encrypted_content"],
    ...defined({ service_tier: serviceTier }),
    prompt_cache_key: promptCacheKey,
    ...defined({ text }),
    client_metadata: { thread_id: request.threadId, turn_id: request.turnId },
  };
}

/** The bytes of a request: the part before its items, the items, and the part after them. */
export type BodyPieces = readonly Uint8Array<ArrayBuffer>[];

/**
 * Creates a serializer of `buildRequestBody` to UTF-8 JSON. If the history of a request continues that of the last one, only new items cost time:
 * the pieces of its items are neither serialized nor copied again. Items must not be modified after they were sent.
 */
export function createBodyWriter(): (request: ModelRequest) => BodyPieces {
  const encoder = new TextEncoder();
  const writeItems = createWrittenItems((item) => stringifyWellFormed(withoutIds(item)));
  return (request) => {
    const envelope = stringifyWellFormed(buildRequestBody({ ...request, input: [] }));
    // Only the model name precedes it, in which quotation marks are escaped.
    const at = envelope.indexOf(EMPTY_INPUT) + EMPTY_INPUT.length - 1;
    return [encoder.encode(envelope.slice(0, at)), writeItems(request.input), encoder.encode(envelope.slice(at))];
  };
}

const EMPTY_INPUT = '"input":[]';

/** Joins the pieces. */
export function joinPieces(pieces: BodyPieces): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(pieces.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const piece of pieces) {
    joined.set(piece, at);
    at += piece.length;
  }
  return joined;
}

/** Removes ids, since nothing is stored at the endpoint, and data of other providers. Items of unknown type are unchanged. */
function withoutIds(item: Item): Item {
  if (!OWN_TYPES.has(item.type) || !("id" in item || "status" in item || "provider_data" in item)) return item;
  const { id: _id, status: _status, provider_data: _data, ...rest } = item;
  return rest as Item; // `type` is none of them
}

const OWN_TYPES: ReadonlySet<string> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);
