import { type Clock, systemClock } from "@codex/clock";
import { toWellFormed } from "@codex/values";
import { asCount, asObject, asText } from "../json/members.js";
import {
  DEFAULT_MODEL_LIMITS,
  DEFAULT_RETRY_LIMITS,
  DEFAULT_STREAM_IDLE_MS,
  type ModelLimits,
  type RetryLimits,
} from "../limits.js";
import { ModelError, type ModelEvent, type ModelPort, type ModelRequest } from "../model-port.js";
import { type RequestFailure, readConnectionFailure, readHttpFailure } from "../requests/failure.js";
import type { IdleWatch } from "../requests/idle-watch.js";
import { streamWithRetries } from "../requests/stream-with-retries.js";
import type { LanguageModel, LanguageModelPart } from "./language-model.js";
import { PartReader } from "./part-reader.js";
import { buildCall } from "./prompt.js";

/** Options of {@link createAiSdkModel}. */
export interface AiSdkModelOptions {
  /** For example `createAnthropic()("claude-…")`. */
  readonly model: LanguageModel;
  /** Idle timeout, milliseconds. */
  readonly streamIdleMs?: number;
  readonly retry?: RetryLimits;
  readonly limits?: Partial<ModelLimits>;
  /** Removes secrets from messages of the endpoint. */
  readonly redact?: (text: string) => string;
  readonly clock?: Clock;
  /** Returns a number in [0, 1), for retry jitter. */
  readonly random?: () => number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Creates a model from any AI SDK 6 provider (`LanguageModelV3`). Retries are handled here. */
export function createAiSdkModel(options: AiSdkModelOptions): ModelPort {
  const context: Required<AiSdkModelOptions> & { limits: ModelLimits } = {
    streamIdleMs: DEFAULT_STREAM_IDLE_MS,
    retry: DEFAULT_RETRY_LIMITS,
    redact: (text) => text,
    clock: systemClock,
    random: Math.random,
    now: Date.now,
    ...options,
    limits: { ...DEFAULT_MODEL_LIMITS, ...options.limits },
  };
  return {
    stream: (request, { signal }) => streamWithRetries((watch) => open(request, watch, context), signal, context),
  };
}

type Context = Required<AiSdkModelOptions> & { readonly limits: ModelLimits };

async function open(
  request: ModelRequest,
  watch: IdleWatch,
  context: Context,
): Promise<AsyncIterable<ModelEvent> | RequestFailure> {
  const { model } = context;
  const provider = model.provider.split(".")[0] ?? model.provider;
  try {
    const { stream } = await model.doStream({
      ...toWellFormed(buildCall(request, provider)),
      abortSignal: watch.signal,
    });
    return readParts(stream, watch, context);
  } catch (thrown) {
    return asFailure(thrown, watch.signal, context);
  }
}

/** Classifies an error: SDK errors have status, headers and body; others concern the connection or the prompt. */
function asFailure(thrown: unknown, signal: AbortSignal, { redact, now }: Context): RequestFailure {
  if (signal.aborted) {
    const reason: unknown = signal.reason;
    if (reason instanceof ModelError) return { error: reason, repeat: false };
    throw reason;
  }
  const hidden = (failure: RequestFailure): RequestFailure => {
    failure.error.message = redact(failure.error.message);
    return failure;
  };
  const error = asObject(thrown);
  const status = asCount(error?.statusCode);
  if (status !== undefined && status >= 300) {
    const headers = new Headers(asHeaders(error?.responseHeaders));
    const body = redact(asText(error?.responseBody) ?? asText(error?.message) ?? "");
    return hidden(readHttpFailure({ status, headers, body, now: now(), keySource: "the provider" }));
  }
  if (error?.isRetryable === false || /^AI_(?!APICall)/.test(asText(error?.name) ?? "")) {
    const message = asText(error?.message) ?? String(thrown);
    return hidden({ error: new ModelError("bad_request", message, { retry: "never", cause: thrown }), repeat: false });
  }
  return hidden(readConnectionFailure(thrown));
}

const asHeaders = (value: unknown): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asObject(value) ?? {}).flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : [])),
  );

async function* readParts(
  stream: ReadableStream<LanguageModelPart>,
  watch: IdleWatch,
  context: Context,
): AsyncGenerator<ModelEvent, void, void> {
  const { limits, redact } = context;
  const reading = new PartReader();
  const reader = stream.getReader();
  let items = 0;
  let chars = 0;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      watch.touch();
      if (done) break;
      const event = reading.read(value);
      if (event === undefined) continue;
      if (event instanceof ModelError) throw new ModelError(event.code, redact(event.message), { retry: event.retry });
      if (event.type === "item_done") items += 1;
      if ("text" in event) chars += event.text.length;
      if (items > limits.responseItems) throw tooLarge(`the response has more than ${limits.responseItems} items`);
      if (chars > limits.responseBytes) throw tooLarge(`the response is over ${limits.responseBytes} characters`);
      yield event;
      if (event.type === "completed") return;
    }
  } catch (thrown) {
    if (thrown instanceof ModelError) throw thrown;
    const { error } = asFailure(thrown, watch.signal, context);
    if (error.code === "idle_timeout") throw error;
    throw new ModelError("stream_cut", `the stream broke: ${error.message}`, { retry: "stream", cause: thrown });
  } finally {
    // The connection may be broken already.
    await reader.cancel().catch(() => {});
  }
  throw new ModelError("stream_cut", "the stream ended without a finish part", { retry: "stream" });
}

const tooLarge = (message: string) => new ModelError("too_large", message, { retry: "never" });
