import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { FakeClock } from "@codex/clock/testing";
import { createResponsesModel, type ModelEvent } from "@codex/model";
import {
  cutAfter,
  fail,
  failed,
  functionCall,
  incomplete,
  message,
  type Reply,
  reasoning,
  renderEvent,
  respond,
  responseEvents,
  type Script,
  say,
  startScriptedEndpoint,
  stream,
} from "@codex/model/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { ask, collect, createFastClock, itemsOf, modelAt, providerAt, request } from "../support.js";

const ITEMS = [reasoning("thinking"), message("It is done."), functionCall("c1", "exec_command", { cmd: "ls" })];

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

describe("a key, a header or a query parameter that an endpoint repeats", () => {
  const KEY = "sk-test/Secret+0123456789";
  const HEADER = "other-secret/+9876543210";
  const QUERY = "Qs3cret+Value/77";
  const table = {
    experimental_bearer_token: KEY,
    http_headers: { "x-other": `Basic ${HEADER}` },
    query_params: { "api-key": QUERY },
    request_max_retries: 0,
  };
  const repeated = (secret: string) => [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).replace(/%../g, (byte) => byte.toLowerCase()),
    JSON.stringify(secret).replaceAll("/", "\\/"),
    Buffer.from(`Bearer ${secret}`).toString("base64"),
    Buffer.from(`u:${secret}`).toString("base64url"),
  ];
  const all = [KEY, HEADER, QUERY].flatMap(repeated);
  const text = all.join(" ");

  it.each<[string, Reply]>([
    [
      "in the address of a redirect",
      fail(307, "", { location: `https://new.example/${encodeURIComponent(KEY)}?${QUERY}#${HEADER}` }),
    ],
    [
      "in its content type",
      { headers: { "content-type": `text/html; t=${KEY}; u=${encodeURIComponent(QUERY)}` }, body: ["x"] },
    ],
    ["in the text of an error", fail(400, text)],
    ["in the message of an error", fail(400, { error: { message: text, code: KEY } })],
    ["at the end of a long error", fail(400, "x".repeat(16 * 1024 - 8) + KEY)],
    ["in a rate limit", fail(429, text, { "retry-after": KEY })],
    ["in a failed response", failed(KEY, text)],
    ["in an error event", stream([{ type: "error", code: "boom", message: text }])],
    ["in an incomplete response", incomplete(KEY)],
  ])("is not shown: %s", async (_name, reply) => {
    const { error, events } = await ask(() => reply, table);
    const shown = `${error?.message} ${error?.stack} ${JSON.stringify(events)}`;
    const parts = [...all, "Secret", "9876543210", "Qs3cret", KEY.slice(0, 8)];
    for (const secret of parts) expect(shown).not.toContain(secret);
  });

  it("names the place of a redirect", async () => {
    const { error } = await ask([fail(307, "", { location: "https://me:pw@new.example/v2/responses?sig=1" })], table);
    expect(error?.message).toContain("it redirects to https://new.example/v2/responses: set base_url");
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

describe("60 s of comments alone", () => {
  it("are no silence of 3 s, which ends the stream afterwards", async () => {
    const clock = new FakeClock();
    const requests: ServerResponse[] = [];
    const server = createServer(
      (_, response) => void requests.push(response.writeHead(200, { "content-type": "text/event-stream" })),
    ).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close().closeAllConnections());
    const { port } = server.address() as { port: number };
    const provider = providerAt(`http://127.0.0.1:${port}`, { stream_idle_timeout_ms: 3000 });
    const model = createResponsesModel({ provider, clock, random: () => 0.5 });
    const stream = model.stream(request(), { signal: new AbortController().signal })[Symbol.asyncIterator]();
    const first = stream.next();
    await once(server, "request");
    for (let second = 0; second < 60; second += 1) {
      requests[0]?.write(": still here\n\n");
      await clock.timer(3000); // what came was noticed
      clock.advance(1000);
    }
    requests[0]?.write(renderEvent({ type: "response.output_item.done", item: message("here") }));
    expect((await first).value).toMatchObject({ type: "item_done" });
    const end = stream.next();
    clock.advance(3000);
    await expect(end).rejects.toMatchObject({ code: "idle_timeout" });
    expect([clock.now(), requests.length]).toEqual([63_000, 1]);
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
