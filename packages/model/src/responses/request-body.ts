import type { Item } from "../items.js";
import type { ModelRequest } from "../model-port.js";

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
    ...(serviceTier === undefined ? {} : { service_tier: serviceTier }),
    prompt_cache_key: promptCacheKey,
    ...(text === undefined ? {} : { text }),
    client_metadata: { thread_id: request.threadId, turn_id: request.turnId },
  };
}

/**
 * Creates a serializer of `buildRequestBody` to UTF-8 JSON that caches the bytes of each item, so that a request serializes
 * only new items. Items must not be modified after they were sent.
 */
export function createBodyWriter(): (request: ModelRequest) => Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const written = new WeakMap<Item, Uint8Array>();
  const comma = encoder.encode(",");
  const write = (item: Item): Uint8Array => {
    const known = written.get(item);
    if (known !== undefined) return known;
    const bytes = encoder.encode(JSON.stringify(withoutIds(item)));
    written.set(item, bytes);
    return bytes;
  };
  return (request) => {
    const envelope = JSON.stringify(buildRequestBody({ ...request, input: [] }));
    // Only the model name precedes it, in which quotation marks are escaped.
    const at = envelope.indexOf(EMPTY_INPUT) + EMPTY_INPUT.length - 1;
    const items = request.input.flatMap((item, index) => (index === 0 ? [write(item)] : [comma, write(item)]));
    return join([encoder.encode(envelope.slice(0, at)), ...items, encoder.encode(envelope.slice(at))]);
  };
}

const EMPTY_INPUT = '"input":[]';

function join(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
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
