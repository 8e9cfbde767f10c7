import type { Clock } from "@codex/clock";
import { createResponsesModel, ModelError, type ModelEvent, type ModelRequest, resolveProvider } from "@codex/model";
import { type Script, startScriptedEndpoint } from "@codex/model/testing";
import { onTestFinished } from "vitest";

/** A clock on which pauses are over at once; what is longer than a minute (silences) never is, unless `elapse` says so. */
export function createFastClock() {
  const waits: number[] = [];
  let armed = 0;
  const pending = new Set<() => void>();
  const clock: Clock = {
    now: () => performance.now(),
    after(ms, run) {
      if (ms > 60_000) {
        armed += 1;
        pending.add(run);
        return () => pending.delete(run);
      }
      waits.push(ms);
      const immediate = setImmediate(run);
      return () => clearImmediate(immediate);
    },
  };
  return {
    clock,
    /** Pauses so far, milliseconds. */
    waits,
    /** How often a silence began. */
    get armed() {
      return armed;
    },
    elapse() {
      for (const run of pending) run();
    },
  };
}

export const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "test-model",
  input: [],
  tools: [],
  parallelToolCalls: true,
  promptCacheKey: "thread-1",
  threadId: "thread-1",
  turnId: "turn-1",
  ...more,
});

/** A provider of a scripted endpoint, with more keys of its table. */
export const providerAt = (url: string, table: object = {}, env: Record<string, string> = {}) =>
  resolveProvider({
    config: {
      model_provider: "scripted",
      model_providers: { scripted: { name: "Scripted", base_url: url, ...table } },
    },
    env,
  }).provider;

export function modelAt(url: string, table: object = {}, fast = createFastClock()) {
  const model = createResponsesModel({ provider: providerAt(url, table), clock: fast.clock, random: () => 0.5 });
  return { model, fast };
}

/** All events of one response, and the error that it ended with. */
export async function collect(
  events: AsyncIterable<ModelEvent>,
): Promise<{ events: ModelEvent[]; error: ModelError | undefined }> {
  const seen: ModelEvent[] = [];
  try {
    for await (const event of events) seen.push(event);
    return { events: seen, error: undefined };
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { events: seen, error };
  }
}

/** One streamed response of a scripted endpoint: its events, its error and the requests that it got. */
export async function ask(script: Script, table: object = {}, more = {}) {
  const endpoint = await startScriptedEndpoint(script);
  onTestFinished(() => endpoint.close());
  const { model, fast } = modelAt(endpoint.url, table);
  const result = await collect(model.stream(request(more), { signal: new AbortController().signal }));
  return { ...result, fast, requests: endpoint.requests };
}

export const itemsOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "item_done" ? [event.item] : []));

export const textIn = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");
