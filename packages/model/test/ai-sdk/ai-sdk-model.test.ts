import { fileURLToPath } from "node:url";
import { createAiSdkModel, createMessage, createOutput, type LanguageModel, type ModelEvent } from "@codex/model";
import { loadAdapterModel } from "@codex/model/node";
import { fail, functionCall, type Script, startScriptedEndpoint } from "@codex/model/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { completedItems, readAll, startAgent } from "../../../agent/test/turn/support.js";
import { collect, createFastClock, providerAt, request } from "../support.js";
import { anthropic, CALL, chat } from "./replies.js";

const HERE = fileURLToPath(new URL("../..", import.meta.url));
const ANTHROPIC = { adapter: "@ai-sdk/anthropic", env_key: "KEY" };
const CHAT = { adapter: "@ai-sdk/openai-compatible", env_key: "KEY" };
const KEY = { KEY: "sk-secret-key" };
async function modelOf(script: Script, table: object) {
  const endpoint = await startScriptedEndpoint(script);
  onTestFinished(() => endpoint.close());
  const fast = createFastClock();
  const provider = providerAt(endpoint.url, table, KEY);
  const model = await loadAdapterModel({ provider, modelName: "some-model", from: [HERE], clock: fast.clock });
  return { endpoint, model, fast };
}

const signal = () => new AbortController().signal;

describe.each([
  ["Messages", ANTHROPIC, anthropic, "/v1/messages"],
  ["chat", CHAT, chat, "/v1/chat/completions"],
] as const)("an endpoint of %s", (_name, table, reply, path) => {
  it("has the same conversation as any other", async () => {
    const { endpoint, model } = await modelOf([reply("I look.", CALL), reply("It says marked.")], table);
    const { thread } = await startAgent([], { agent: { model } });
    const seen = await readAll(thread.run("What does it say?"));
    expect(seen.at(-1)).toMatchObject({ type: "turn_completed", usage: { outputTokens: 10 } });
    const items = completedItems(seen).filter(({ kind }) => kind !== "reasoning");
    expect(items).toMatchObject([
      { kind: "message", text: "I look." },
      { kind: "command", status: "completed", output: "marked\n" },
      { kind: "message", text: "It says marked." },
    ]);
    expect(endpoint.requests.map((sent) => sent.path)).toEqual([path, path]);
    const [first, second] = endpoint.requests.map(({ text }) => text);
    expect(first).toContain("exec_command");
    expect(first).toContain("coding agent");
    expect(second).toContain("Process exited with code 0");
    expect(second).toMatch(/"c1"[\s\S]*"c1"/);
  });

  it("is asked again where that may help", async () => {
    const { model, endpoint, fast } = await modelOf([fail(503), fail(529), reply("done")], table);
    const { events: seen, error } = await collect(
      model.stream(request({ input: [createMessage("user", "x")] }), { signal: signal() }),
    );
    expect(error).toBeUndefined();
    expect(seen.at(-1)).toMatchObject({ type: "completed" });
    expect(endpoint.requests).toHaveLength(3);
    expect(fast.waits).toHaveLength(2);
  });

  it.each([
    [401, { code: "unauthorized", retry: "never" }],
    [400, { code: "bad_request", retry: "never" }],
  ])("that answers %i is not, and the key is not shown", async (status, expected) => {
    const { model, endpoint } = await modelOf(() => fail(status, `wrong ${KEY.KEY}`), table);
    const { error } = await collect(
      model.stream(request({ input: [createMessage("user", "x")] }), { signal: signal() }),
    );
    expect(error).toMatchObject(expected);
    expect(error?.message).not.toContain(KEY.KEY);
    expect(endpoint.requests).toHaveLength(1);
  });

  it("that is cut is a broken stream", async () => {
    const whole = [...reply("half").body];
    const { model } = await modelOf([{ ...reply(""), body: whole.slice(0, 3), ending: "cut" }], table);
    const { error } = await collect(
      model.stream(request({ input: [createMessage("user", "x")] }), { signal: signal() }),
    );
    expect(error).toMatchObject({ retry: "stream" });
  });
});

it("gives thinking back to the provider that signed it", async () => {
  const { endpoint, model } = await modelOf([anthropic("I look.", CALL), anthropic("done")], ANTHROPIC);
  const { thread } = await startAgent([], { agent: { model } });
  await thread.run("go").result;
  expect(endpoint.requests[1]!.text).toContain('"signature":"signed"');
});

it("tells images, later words of the developer, and tools of free text in what every provider knows", async () => {
  let asked: Parameters<LanguageModel["doStream"]>[0] | undefined;
  const model: LanguageModel = {
    specificationVersion: "v3",
    provider: "fake.chat",
    modelId: "fake",
    doStream: async (options) => {
      asked = options;
      return { stream: new ReadableStream({ start: (controller) => controller.close() }) };
    },
  };
  const image = { type: "input_image" as const, image_url: "data:image/png;base64,AAAA" };
  const input = [
    createMessage("developer", "one"),
    createMessage("developer", "two"),
    { type: "message", role: "user", content: [{ type: "input_text", text: "look" }, image] },
    createMessage("developer", "new"),
    functionCall("c1", "view_image", { path: "x" }),
    createOutput({ type: "function_call", call_id: "c1" }, [image]),
  ];
  const grammar = { type: "grammar", syntax: "lark", definition: "" } as const;
  const tools = [{ type: "custom", name: "patch", description: "", format: grammar }] as const;
  await collect(createAiSdkModel({ model }).stream(request({ input, tools }), { signal: signal() }));
  expect(asked).toMatchObject({
    prompt: [
      { role: "system", content: "one\n\ntwo" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "file", mediaType: "image/png", data: "AAAA" },
          { type: "text", text: "<developer>\nnew\n</developer>" },
        ],
      },
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "c1", toolName: "view_image", input: { path: "x" } }],
      },
      {
        role: "tool",
        content: [
          { toolName: "view_image", output: { type: "content", value: [{ type: "image-data", data: "AAAA" }] } },
        ],
      },
    ],
    tools: [{ type: "function", name: "patch" }],
  });
});

it("drops calls that cannot be answered, and says so", async () => {
  const parts = [
    { type: "tool-call", toolName: "f", input: "{}" },
    { type: "finish", finishReason: { unified: "stop" } },
  ];
  const model: LanguageModel = {
    specificationVersion: "v3",
    provider: "fake",
    modelId: "fake",
    doStream: async () => ({ stream: ReadableStream.from(parts) }),
  };
  const { events: seen } = await collect(createAiSdkModel({ model }).stream(request(), { signal: signal() }));
  expect(seen.map(({ type }: ModelEvent) => type)).toEqual(["notice", "completed"]);
});

describe("an adapter", () => {
  const load = (adapter: string, from = [HERE]) =>
    loadAdapterModel({ provider: providerAt("http://127.0.0.1:1", { adapter }), modelName: "m", from });
  it.each([
    ["@ai-sdk/missing", { code: "not_installed", message: expect.stringContaining("npm install --prefix") as string }],
    ["../evil", { code: "not_usable" }],
    ["/tmp/evil", { code: "not_usable" }],
    ["zod", { code: "not_usable" }],
  ])("named %s is an error", async (adapter, expected) => {
    await expect(load(adapter)).rejects.toMatchObject(expected);
  });
});
