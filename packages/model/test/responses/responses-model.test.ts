import { createMessage, textOf } from "@codex/model";
import {
  customCall,
  functionCall,
  message,
  type Reply,
  reasoning,
  refusal,
  renderEvent,
  respond,
  responseEvents,
  say,
  startScriptedEndpoint,
  stream,
} from "@codex/model/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { ask, itemsOf, modelAt, request, textIn } from "../support.js";

const ITEMS = [reasoning("thinking"), message("It is done."), functionCall("c1", "exec_command", { cmd: "ls" })];

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
