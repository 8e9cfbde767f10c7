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

/** Nothing is stored at the endpoint, so an id there names nothing; data of another provider means nothing. Items of types unknown here go as they came. */
function withoutIds(item: Item): Item {
  if (!OWN_TYPES.has(item.type) || !("id" in item || "status" in item || "provider_data" in item)) return item;
  const { id: _id, status: _status, provider_data: _data, ...rest } = item;
  return rest as Item; // `type` is none of them
}

const OWN_TYPES: ReadonlySet<string> = new Set(["message", "reasoning", "function_call", "custom_tool_call"]);
