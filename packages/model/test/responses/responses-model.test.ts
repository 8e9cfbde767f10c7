import { createServer } from "node:http";
import { createMessage, createResponsesModel, type ModelEvent, textOf } from "@codex/model";
import {
  customCall,
  cutAfter,
  fail,
  failed,
  functionCall,
  incomplete,
  message,
  type Reply,
  reasoning,
  refusal,
  renderEvent,
  respond,
  responseEvents,
  type Script,
  say,
  startScriptedEndpoint,
  stream,
} from "@codex/model/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { collect, createFastClock, modelAt, providerAt, request } from "../support.js";

const ITEMS = [reasoning("thinking"), message("It is done."), functionCall("c1", "exec_command", { cmd: "ls" })];

async function ask(script: Script, table: object = {}, more = {}) {
  const endpoint = await startScriptedEndpoint(script);
  onTestFinished(() => endpoint.close());
  const { model, fast } = modelAt(endpoint.url, table);
  const result = await collect(model.stream(request(more), { signal: new AbortController().signal }));
  return { ...result, fast, requests: endpoint.requests };
}

const itemsOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "item_done" ? [event.item] : []));
const textIn = (events: readonly ModelEvent[]) =>
  events.map((event) => (event.type === "text_delta" ? event.text : "")).join("");

describe("a request", () => {
  it("has the body and the headers of the Responses API", async () => {
    const input = [createMessage("user", "hello"), message("hi", "m9")];
    const { requests } = await ask([say("done")], {}, { input, reasoning: { summary: "auto" }, serviceTier: "fast" });
    const { body, headers, method, path } = requests[0]!;
    expect({ method, path }).toEqual({ method: "POST", path: "/v1/responses" });
    expect(body).toEqual({
      model: "test-model",
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "hello" }] },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "hi" }] },
      ],
      tools: [],
      tool_choice: "auto",
      parallel_tool_calls: true,
      reasoning: { summary: "auto" },
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      service_tier: "fast",
      prompt_cache_key: "thread-1",
      client_metadata: { thread_id: "thread-1", turn_id: "turn-1" },
    });
    expect(headers).toMatchObject({
      accept: "text/event-stream",
      "content-type": "application/json",
      "user-agent": "codex-ts",
      "session-id": "thread-1",
      "thread-id": "thread-1",
    });
    expect(headers.authorization).toBeUndefined();
  });

  it("carries the state of the turn back", async () => {
    const reply: Reply = { ...say("done"), headers: { "x-codex-turn-state": "state-1" } };
    const { events } = await ask([reply]);
    expect(events.at(-1)).toMatchObject({ type: "completed", turnState: "state-1" });
    const { requests } = await ask([say("done")], {}, { turnState: "state-1" });
    expect(requests[0]!.headers["x-codex-turn-state"]).toBe("state-1");
  });
});

describe("a stream", () => {
  const events = responseEvents(ITEMS);
  const bare = events.filter(({ type }) => /\.(output_item\.done|completed)$/.test(type));
  const noise = [": keep-alive\n\n", "data: {no json\n\n", 'data: {"type":"response.unknown"}\n\n', "data: [DONE]\n\n"];
  const forms: [string, Reply][] = [
    ["usual", stream(events)],
    ["without names of events", stream(events, { eventNames: false })],
    ["with CRLF", stream(events, { lineEnd: "\r\n" })],
    ["with CR", stream(events, { lineEnd: "\r" })],
    ["with data over lines", stream(events, { splitData: true })],
    ["with data over lines and CRLF", stream(events, { splitData: true, lineEnd: "\r\n" })],
    ["of items and an end only", stream(bare)],
    ["among comments, bad JSON and what is not known", { body: events.flatMap((one) => [...noise, renderEvent(one)]) }],
    [
      "in single bytes",
      { body: [...Buffer.from(events.map((one) => renderEvent(one)).join(""))].map((byte) => Buffer.of(byte)) },
    ],
    ["that stays open after its end", stream(events, { ending: "open" })],
    [
      "without an empty line at its end",
      {
        body: [
          events
            .map((one) => renderEvent(one))
            .join("")
            .trimEnd(),
        ],
      },
    ],
  ];
  it.each(forms)("%s is read whole", async (_name, reply) => {
    const { events: seen, error } = await ask([reply]);
    expect(error).toBeUndefined();
    expect(itemsOf(seen)).toEqual(ITEMS);
    expect(seen.at(-1)).toMatchObject({ type: "completed", responseId: "resp_1", usage: { totalTokens: 15 } });
  });

  it("gives text and reasoning as they come", async () => {
    const { events: seen } = await ask([stream(events)]);
    expect(textIn(seen)).toBe("It is done.");
    expect(seen.find(({ type }) => type === "reasoning_delta")).toEqual({
      type: "reasoning_delta",
      text: "thinking",
      itemId: "rs1",
    });
  });

  it("gives custom calls and refusals as items", async () => {
    const items = [refusal("I will not."), customCall("c1", "apply_patch", "*** Begin Patch")];
    const { events: seen } = await ask([respond(...items)]);
    expect(itemsOf(seen)).toEqual(items);
    expect(textOf(itemsOf(seen)[0]!)).toBe("I will not.");
  });

  it.each([
    [
      "without a call_id",
      { type: "function_call", name: "f", arguments: "{}" },
      /`?f`? was dropped: it has no call_id/,
    ],
    [
      "with arguments that are an object",
      { type: "function_call", call_id: "c", name: "f", arguments: {} },
      /arguments is of type object; expected text/,
    ],
    ["without a name", { type: "function_call", call_id: "c", arguments: "{}" }, /no name/],
    ["without input", { type: "custom_tool_call", call_id: "c", name: "f" }, /input is missing/],
  ])("tells of a call %s that it was dropped", async (_name, item, text) => {
    const { events: seen } = await ask([respond(item)]);
    expect(itemsOf(seen)).toEqual([]);
    expect(seen[0]).toMatchObject({ type: "notice", message: expect.stringMatching(text) as string });
  });

  it("counts neither items of the end alone nor deltas without an item", async () => {
    const response = { id: "r", output: [message("unseen")] };
    const { events: seen } = await ask([
      stream([
        { type: "response.output_text.delta", delta: "unseen" },
        { type: "response.completed", response },
      ]),
    ]);
    expect(itemsOf(seen)).toEqual([]);
  });

  it("says that the model wants to go on", async () => {
    const { events: seen } = await ask([stream(responseEvents([message("one")], { endTurn: false }))]);
    expect(seen.at(-1)).toMatchObject({ endTurn: false });
  });

  it("takes usage as far as it is there", async () => {
    const usageOf = async (usage: object | null) => (await ask([stream(responseEvents([], { usage }))])).events.at(-1);
    expect(await usageOf(null)).not.toHaveProperty("usage");
    expect(await usageOf({ input_tokens: 3, output_tokens: 4, input_tokens_details: null })).toMatchObject({
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 0, totalTokens: 7 },
    });
    expect(await usageOf({ input_tokens: 1e308, output_tokens: -1, total_tokens: "x" })).toMatchObject({
      usage: { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
    });
  });

  it("of 20 MB of deltas does not grow", async () => {
    const delta = "x".repeat(1000);
    function* body() {
      for (let count = 0; count < 20_000; count += 1) {
        yield renderEvent({ type: "response.output_text.delta", delta });
      }
      yield renderEvent({ type: "response.completed", response: { id: "r" } });
    }
    const endpoint = await startScriptedEndpoint([{ body: body() }]);
    onTestFinished(() => endpoint.close());
    const { model } = modelAt(endpoint.url);
    let bytes = 0;
    let most = 0;
    for await (const event of model.stream(request(), { signal: new AbortController().signal })) {
      if (event.type !== "text_delta") continue;
      bytes += event.text.length;
      most = Math.max(most, event.text.length);
    }
    expect({ bytes, most }).toEqual({ bytes: 20_000_000, most: 1000 });
  });
});

describe("a response that fails", () => {
  it.each<[string, Reply, object]>([
    ["is cut", cutAfter(3, message("half")), { code: "stream_cut", retry: "stream" }],
    ["ends without completed", stream([]), { code: "stream_cut", retry: "stream" }],
    [
      "is no stream",
      { headers: { "content-type": "text/html" }, body: ["<html>"] },
      { code: "stream_cut", message: expect.stringContaining("text/html") as string },
    ],
    [
      "has an unknown code",
      failed("surprise", "text"),
      { code: "response_failed", retry: "stream", message: "surprise: text" },
    ],
    ["is to slow down", failed("slow_down", ""), { retry: "stream" }],
    [
      "tells when to come back",
      failed("rate_limit_exceeded", "Please try again in 1.5s."),
      { code: "rate_limited", retry: "stream", retryAfterMs: 1500 },
    ],
    ["is out of quota", failed("insufficient_quota", ""), { retry: "never" }],
    ["is too long", failed("context_length_exceeded", ""), { code: "context_too_long", retry: "never" }],
    ["is not included", failed("usage_not_included", ""), { retry: "never" }],
    ["has a prompt that is not taken", failed("invalid_prompt", ""), { retry: "never" }],
    ["has a server with too much to do", failed("server_is_overloaded", ""), { retry: "never" }],
    [
      "is an error event",
      stream([{ type: "error", code: "boom", message: "the text of it" }]),
      { retry: "stream", message: "boom: the text of it" },
    ],
    ["stops at a number of tokens", incomplete("max_output_tokens"), { code: "incomplete", retry: "never" }],
    ["stops at a filter", incomplete("content_filter"), { code: "incomplete", retry: "stream" }],
    ["is not found", fail(404), { retry: "stream", status: 404 }],
    [
      "is a bad request",
      fail(400, { error: { message: "no such field" } }),
      { code: "bad_request", retry: "never", message: "the endpoint answered 400: no such field" },
    ],
    [
      "names a type of tool",
      fail(400, { error: { message: "Invalid value: 'custom'", param: "tools[2].type" } }),
      { code: "tool_type", retry: "never" },
    ],
    [
      "speaks of a tool otherwise",
      fail(400, { error: { message: "No tool output found for function call c1.", type: "invalid_request_error" } }),
      { code: "bad_request", retry: "never" },
    ],
    ["is not authorized", fail(401, "who are you"), { code: "unauthorized", retry: "never" }],
    ["is forbidden", fail(403), { code: "unauthorized", retry: "never" }],
    [
      "is rate limited, with a time",
      fail(429, "", { "retry-after": "7" }),
      { code: "rate_limited", retry: "stream", retryAfterMs: 7000 },
    ],
    ["is rate limited by quota", fail(429, { error: { code: "insufficient_quota" } }), { retry: "never" }],
    ["redirects", fail(307, "", { location: "http://127.0.0.1:1/" }), { retry: "never", status: 307 }],
  ])("%s", async (_name, reply, expected) => {
    const { error, requests } = await ask([reply]);
    expect(error).toMatchObject(expected);
    expect(requests).toHaveLength(1);
  });

  it.each([
    ["of the server", fail(500)],
    ["of a gateway", fail(503, "busy")],
    ["by rate, without a time", fail(429)],
    ["by rate, with parts of seconds", fail(429, "", { "retry-after": "0.01" })],
    ["by rate, in milliseconds", fail(429, "", { "retry-after-ms": "3" })],
  ])("%s is asked for again four times", async (_name, reply) => {
    const { error, requests } = await ask(() => reply);
    expect(error).toMatchObject({ retry: "stream" });
    expect(requests).toHaveLength(5);
  });

  it("is asked for again after growing pauses, and then had", async () => {
    const { error, events, fast } = await ask([fail(500), fail(502), fail(503), fail(504), say("done")]);
    expect(error).toBeUndefined();
    expect(itemsOf(events)).toHaveLength(1);
    expect(fast.waits).toEqual([200, 400, 800, 1600]);
  });

  it("tells of a long pause that the endpoint asks for", async () => {
    const { events, fast } = await ask([fail(503, "", { "retry-after": "30" }), say("done")]);
    expect(fast.waits).toEqual([30_000]);
    expect(events[0]).toMatchObject({
      type: "notice",
      retry: true,
      message: expect.stringContaining("30 s") as string,
    });
  });

  it("takes the number of repetitions from the provider", async () => {
    const { requests } = await ask(() => fail(500), { request_max_retries: 1 });
    expect(requests).toHaveLength(2);
  });

  it("keeps items that came before it broke", async () => {
    const { events, error } = await ask([cutAfter(responseEvents(ITEMS).length - 1, ...ITEMS)]);
    expect(error?.code).toBe("stream_cut");
    expect(itemsOf(events).length).toBeLessThanOrEqual(ITEMS.length);
  });
});

describe("silence", () => {
  it("before the headers ends the request", async () => {
    const server = createServer(() => fast.elapse()).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    onTestFinished(() => void server.close().closeAllConnections());
    const fast = createFastClock();
    const { model } = modelAt(`http://127.0.0.1:${(server.address() as { port: number }).port}`, {}, fast);
    const { error } = await collect(model.stream(request(), { signal: new AbortController().signal }));
    expect(error).toMatchObject({ code: "idle_timeout", retry: "stream" });
  });

  it("within a stream ends it, and any byte puts that off", async () => {
    const fast = createFastClock();
    const endpoint = await startScriptedEndpoint([
      {
        body: (function* () {
          for (let count = 0; count < 20; count += 1) yield* [":\n", 1];
          yield renderEvent({ type: "response.output_text.delta", delta: "x" });
        })(),
        ending: "open",
      },
    ]);
    onTestFinished(() => endpoint.close());
    const { model } = modelAt(endpoint.url, {}, fast);
    const events: ModelEvent[] = [];
    const reading = (async () => {
      for await (const event of model.stream(request(), { signal: new AbortController().signal })) {
        events.push(event);
        setImmediate(() => fast.elapse());
      }
    })();
    await expect(reading).rejects.toMatchObject({ code: "idle_timeout", retry: "stream" });
    expect(events).toHaveLength(1);
    expect(fast.armed).toBeGreaterThan(2); // the request, its headers, what came
  });
});

describe("an abort", () => {
  it("ends a stream at once", async () => {
    const endpoint = await startScriptedEndpoint([
      stream([{ type: "response.output_text.delta", delta: "x" }], { ending: "open" }),
    ]);
    onTestFinished(() => endpoint.close());
    const { model } = modelAt(endpoint.url);
    const controller = new AbortController();
    const reason = new Error("enough");
    const reading = (async () => {
      for await (const _ of model.stream(request(), { signal: controller.signal })) controller.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
  });

  it("ends a pause at once", async () => {
    const endpoint = await startScriptedEndpoint(() => fail(503, "", { "retry-after": "3600" }));
    onTestFinished(() => endpoint.close());
    const { model } = modelAt(endpoint.url);
    const controller = new AbortController();
    const reading = (async () => {
      for await (const event of model.stream(request(), { signal: controller.signal })) {
        if (event.type === "notice") controller.abort(new Error("enough"));
      }
    })();
    await expect(reading).rejects.toThrow("enough");
    expect(endpoint.requests).toHaveLength(1);
  });
});

describe("a token of a program", () => {
  const askWith = async (tokens: readonly string[]) => {
    const script: Script = ({ headers }) =>
      headers.authorization === "Bearer new" ? say("done") : fail(401, "expired old");
    const endpoint = await startScriptedEndpoint(script);
    onTestFinished(() => endpoint.close());
    const provider = providerAt(endpoint.url, { auth: { command: "token" } });
    const readToken = (_: AbortSignal, refused?: string) =>
      Promise.resolve(refused === undefined ? tokens[0]! : tokens[1]!);
    const model = createResponsesModel({ provider, readToken });
    return { ...(await collect(model.stream(request(), { signal: new AbortController().signal }))), endpoint };
  };

  it("that is refused is asked for once more", async () => {
    const { error, endpoint } = await askWith(["old-token", "new"]);
    expect(error).toBeUndefined();
    expect(endpoint.requests).toHaveLength(2);
  });

  it("that stays the same is refused for good", async () => {
    const { error, endpoint } = await askWith(["old-token", "old-token"]);
    expect(error).toMatchObject({ code: "unauthorized", retry: "never" });
    expect(endpoint.requests).toHaveLength(1);
  });
});

it("tells that nobody listens", async () => {
  const endpoint = await startScriptedEndpoint([]);
  await endpoint.close();
  const { model, fast } = modelAt(endpoint.url);
  const { error } = await collect(model.stream(request(), { signal: new AbortController().signal }));
  expect(error).toMatchObject({ code: "connection_refused", retry: "refused" });
  expect(fast.waits).toEqual([200, 400, 800, 1600]);
});

it("bounds events, responses and their number of items", async () => {
  const endpoint = await startScriptedEndpoint(() => respond(message("x".repeat(2000)), message("y")));
  onTestFinished(() => endpoint.close());
  const askWith = async (limits: object) => {
    const model = createResponsesModel({ provider: providerAt(endpoint.url), limits });
    return (await collect(model.stream(request(), { signal: new AbortController().signal }))).error;
  };
  expect(await askWith({ eventChars: 1000 })).toMatchObject({
    code: "too_large",
    message: expect.stringContaining("1000 characters") as string,
  });
  expect(await askWith({ responseItems: 1 })).toMatchObject({
    code: "too_large",
    message: expect.stringContaining("1 items") as string,
  });
  expect(await askWith({ responseBytes: 1000 })).toMatchObject({
    code: "too_large",
    message: expect.stringContaining("1000 bytes") as string,
  });
});
