import { type Clock, systemClock, waitUnlessAborted } from "@codex/clock";
import type { SecretFilter } from "@codex/values";
import { messageOf } from "@codex/values";
import { DEFAULT_MODEL_LIMITS, type ModelLimits } from "../limits.js";
import { ModelError, type ModelEvent, type ModelPort, type ModelRequest } from "../model-port.js";
import { buildHeaders } from "../provider/headers.js";
import type { Provider } from "../provider/provider.js";
import { type RequestFailure, readConnectionFailure, readHttpFailure } from "../requests/failure.js";
import type { IdleWatch } from "../requests/idle-watch.js";
import { streamWithRetries } from "../requests/stream-with-retries.js";
import type { ModelFetch, ModelResponse } from "./model-fetch.js";
import { type BodyPieces, createBodyWriter, joinPieces } from "./request-body.js";
import { readServerEvents } from "./server-events.js";
import { readStreamEvent } from "./stream-event.js";
import { createUntimedFetch } from "./untimed-fetch.js";

/** Returns a token; `refused` is the rejected one to replace. */
export type TokenReader = (signal: AbortSignal, refused?: string) => Promise<string>;

/** Options of {@link createResponsesModel}. */
export interface ResponsesModelOptions {
  readonly provider: Provider;
  /** Returns the token of a provider with `auth`; called for each request. */
  readonly readToken?: (signal: AbortSignal) => Promise<string>;
  /** `user-agent` header. */
  readonly userAgent?: string;
  /** `originator` header: the calling program. */
  readonly originator?: string;
  readonly limits?: Partial<ModelLimits>;
  /** Default: the global `fetch`. */
  readonly fetch?: ModelFetch;
  readonly clock?: Clock;
  /** Returns a number in [0, 1), for retry jitter. */
  readonly random?: () => number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Creates a model that uses `POST {base_url}/responses`. */
export function createResponsesModel(options: ResponsesModelOptions): ModelPort {
  const context: Context = {
    fetch: createUntimedFetch(options.provider.streamIdleMs, globalThis.fetch),
    clock: systemClock,
    random: Math.random,
    now: Date.now,
    userAgent: "codex-ts",
    originator: "codex-ts",
    ...options,
    limits: { ...DEFAULT_MODEL_LIMITS, ...options.limits },
    writeBody: createBodyWriter(),
  };
  const { provider, clock, random } = context;
  const retries = { retry: provider.retry, streamIdleMs: provider.streamIdleMs, clock, random };
  return {
    stream(request, { signal }) {
      let pieces: BodyPieces | undefined;
      const send = (watch: IdleWatch) => {
        pieces ??= context.writeBody(request);
        return open(request, pieces, watch, context);
      };
      return streamWithRetries(send, signal, retries);
    },
  };
}

interface Context extends Required<Omit<ResponsesModelOptions, "readToken" | "limits">> {
  readonly readToken?: TokenReader;
  readonly limits: ModelLimits;
  readonly writeBody: (request: ModelRequest) => BodyPieces;
}

/** Sends the request; returns the events of the response if successful, otherwise the failure. */
async function open(
  request: ModelRequest,
  pieces: BodyPieces,
  watch: IdleWatch,
  context: Context,
): Promise<AsyncIterable<ModelEvent> | RequestFailure> {
  const { provider, userAgent, originator, now, limits, fetch } = context;
  const { signal } = watch;
  let joined: Uint8Array<ArrayBuffer> | undefined;
  let token: string | undefined;
  const send = () => {
    const headers = buildHeaders({ provider, request, token, userAgent, originator });
    return fetch(provider.url, {
      method: "POST",
      headers,
      pieces,
      get body() {
        joined ??= joinPieces(pieces);
        return joined;
      },
      signal,
      redirect: "manual",
    });
  };
  try {
    token = await readCommandToken(watch, context);
    let response = await send();
    watch.touch();
    if (response.status === 401 && token !== undefined) {
      const other = await readCommandToken(watch, context, token);
      if (other !== token) {
        await response.body?.cancel();
        token = other;
        response = await send();
        watch.touch();
      }
    }
    if (response.ok) return readResponse(response, watch, context, provider.createFilter(token));
    const filter = provider.createFilter(token);
    const body = await readStart(response, limits.errorBodyBytes, filter);
    const keySource = provider.credential.kind === "none" ? undefined : provider.credential.from;
    const { status, headers } = response;
    return hideSecrets(readHttpFailure({ status, headers, body, now: now(), keySource }), filter);
  } catch (thrown) {
    return hideSecrets(asFailure(thrown, signal), provider.createFilter(token));
  }
}

/** The token of a provider with `auth`; undefined for others. @throws ModelError, the reason of the signal */
async function readCommandToken(
  { signal, touch }: IdleWatch,
  { provider, readToken }: Context,
  refused?: string,
): Promise<string | undefined> {
  if (provider.credential.kind !== "command" || readToken === undefined) return undefined;
  const reading = readToken(signal, refused).catch((thrown: unknown) => {
    if (thrown instanceof ModelError || signal.aborted) throw thrown;
    const reason = provider.createFilter().hide(messageOf(thrown));
    throw new ModelError("unauthorized", `no token: ${reason}`, { retry: "never", cause: thrown });
  });
  const token = await waitUnlessAborted(signal, reading);
  signal.throwIfAborted();
  touch(); // The time of the command is not the endpoint's.
  return token;
}

/** Classifies a thrown value; rethrows the caller's abort reason. */
function asFailure(thrown: unknown, signal: AbortSignal): RequestFailure {
  if (!signal.aborted && thrown instanceof ModelError) return { error: thrown, repeat: false };
  if (!signal.aborted) return readConnectionFailure(thrown);
  const reason: unknown = signal.reason;
  if (reason instanceof ModelError) return { error: reason, repeat: false };
  throw reason;
}

/** The start of a body without secrets; one that begins before the limit is read to its end. */
async function readStart(response: ModelResponse, maxBytes: number, filter: SecretFilter): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let shown: number | undefined;
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    const inside = Math.max(0, maxBytes - bytes);
    text += decoder.decode(chunk.subarray(0, inside), { stream: true });
    if (chunk.length >= inside) shown ??= text.length;
    text += decoder.decode(chunk.subarray(inside, inside + filter.reach), { stream: true });
    bytes += chunk.length;
    if (bytes >= maxBytes + filter.reach) break;
  }
  return filter.hide(text, 0, shown);
}

async function* readResponse(
  response: ModelResponse,
  watch: IdleWatch,
  { limits }: Context,
  filter: SecretFilter,
): AsyncGenerator<ModelEvent, void, void> {
  const { body } = response;
  let items = 0;
  try {
    for await (const data of body === null ? [] : readServerEvents(body, limits, watch.touch)) {
      const event = readStreamEvent(data);
      if (event === undefined) continue;
      if (event instanceof ModelError) throw event;
      if (event.type === "item_done") items += 1;
      if (items > limits.responseItems) throw tooManyItems(limits.responseItems);
      if (event.type === "completed") {
        const turnState = response.headers.get("x-codex-turn-state");
        yield turnState === null ? event : { ...event, turnState };
        return;
      }
      yield event;
    }
  } catch (thrown) {
    filter.hideInError(thrown);
    if (thrown instanceof ModelError) throw thrown;
    const { error } = asFailure(thrown, watch.signal);
    throw error.code === "idle_timeout" ? error : cut(`the stream broke: ${error.message}`, thrown);
  }
  throw cut(filter.hide(`the stream ended before response.completed${describeType(response)}`));
}

const cut = (message: string, cause?: unknown) => new ModelError("stream_cut", message, { retry: "stream", cause });

const tooManyItems = (limit: number) =>
  new ModelError("too_large", `the response has more than ${limit} items`, { retry: "never" });

function hideSecrets(failure: RequestFailure, filter: SecretFilter): RequestFailure {
  filter.hideInError(failure.error);
  return failure;
}

/** Mentions an unexpected content type, the likely cause of a missing end event. */
function describeType(response: ModelResponse): string {
  const type = response.headers.get("content-type") ?? "none";
  return type.startsWith("text/event-stream") ? "" : ` (its content type is ${JSON.stringify(type)})`;
}
