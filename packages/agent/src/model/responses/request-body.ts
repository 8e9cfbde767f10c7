import type { Item } from "../items.js";
import type { ModelRequest } from "../model-port.js";

/** The JSON body of `POST /responses`: a pure function of what is asked. */
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
 * Writes the bodies of `buildRequestBody` as JSON in UTF-8, one request of a thread after the other. The bytes of an item are
 * kept as long as the item, so a request costs what is new in its history, and a copy. An item must not be changed once it was
 * sent.
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
    const around = JSON.stringify(buildRequestBody({ ...request, input: [] }));
    // Only the name of the model comes before it, and a quotation mark within that is escaped.
    const at = around.indexOf(EMPTY_INPUT) + EMPTY_INPUT.length - 1;
    const items = request.input.flatMap((item, index) => (index === 0 ? [write(item)] : [comma, write(item)]));
    return join([encoder.encode(around.slice(0, at)), ...items, encoder.encode(around.slice(at))]);
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

/** Nothing is stored at the endpoint, so an id there names nothing; data of another provider means nothing. Items of types unknown here go as they came. */
function withoutIds(item: Item): Item {
  if (!OWN_TYPES.has(item.type) || !("id" in item || "status" in item || "provider_data" in item)) return item;
  const { id: _id, status: _status, provider_data: _data, ...rest } = item;
  return rest as Item; // `type` is none of them
}

const OWN_TYPES: ReadonlySet<string> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);
