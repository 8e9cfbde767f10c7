import type { ExecutorToolSpec } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { scriptedTools } from "../programs/scripted-executor.mjs";
import { RawPeer, scriptedChannel } from "../support/executors.js";
import { stage } from "../support/orchestrators.js";

const own = (name: string, properties: object = {}): ExecutorToolSpec => ({
  name,
  description: name,
  inputSchema: { type: "object", properties },
});

async function two(tools: { a?: readonly ExecutorToolSpec[]; b?: readonly ExecutorToolSpec[] } = {}) {
  const a = scriptedChannel({ tools: tools.a ?? scriptedTools });
  const b = scriptedChannel({ tools: tools.b ?? scriptedTools });
  const made = stage({
    executors: [
      { name: "a", channel: a.channel },
      { name: "b", channel: Promise.resolve(b.channel) },
    ],
  });
  await made.orchestrator.ready;
  return { ...made, a: a.executor, b: b.executor };
}

describe("several executors", () => {
  it("are one tool list: same names merged, with environment_id", async () => {
    const { orchestrator } = await two({ b: [...scriptedTools, own("only_b")] });
    const tools = orchestrator.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(["exec_command", "write_stdin", "show_arguments", "only_b"]);
    const environment = tools
      .map((tool) => tool.inputSchema.properties)
      .map((properties) => Reflect.get(Object(properties), "environment_id"));
    expect(environment).toMatchObject([
      { type: "string", enum: ["a", "b"], description: expect.stringContaining("default `a`") },
      { enum: ["a", "b"] },
      { enum: ["a", "b"] },
      { enum: ["b"] },
    ]);
  });

  it("do not show environment_id while there is one", async () => {
    const { orchestrator } = await two();
    expect(orchestrator.listTools()[0]?.inputSchema.properties).toHaveProperty("environment_id");
    await orchestrator.detach("b");
    for (const tool of orchestrator.listTools())
      expect(tool.inputSchema.properties).not.toHaveProperty("environment_id");
  });

  it("get the calls that name them, the first one the others, and each the tools that only it has", async () => {
    const { orchestrator, a, b } = await two({ b: [...scriptedTools, own("only_b")] });
    const show = async (name: string, args: object) => (await orchestrator.callTool(name, args)).structured;
    expect(await show("show_arguments", { x: 1, environment_id: "b" })).toEqual({ x: 1 });
    expect(b.received.at(-1)).toMatchObject({ toolName: "show_arguments" });
    expect(await show("show_arguments", { x: 2 })).toEqual({ x: 2 });
    expect(a.received.at(-1)).toMatchObject({ arguments: { x: 2 } });
    expect(await show("only_b", { x: 3 })).toEqual({ x: 3 });
    expect(b.received.at(-1)).toMatchObject({ toolName: "only_b" });
  });

  it("leave a tool its own environment_id argument", async () => {
    const tool = own("deploy", { environment_id: { type: "number" } });
    const { orchestrator } = await two({ a: [tool], b: [tool] });
    const [deploy] = orchestrator.listTools();
    expect(deploy?.inputSchema.properties).toEqual({ environment_id: { type: "number" } });
    const result = await orchestrator.callTool("deploy", { environment_id: 4 });
    expect(result.structured).toEqual({ environment_id: 4 });
  });

  it.each([
    ["c", /expected one of `a`, `b` for `exec_command`, got `c`/],
    [5, /got a number/],
  ])("refuse the unknown environment %j", async (environment_id, text) => {
    const { orchestrator } = await two();
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi", environment_id });
    expect(result).toMatchObject({
      status: "error",
      text: expect.stringMatching(text),
      structured: { code: "unknown_environment" },
    });
  });

  it("are never exchanged: the default being offline does not make another one run the command", async () => {
    const { orchestrator, b } = await two();
    await orchestrator.callTool("exec_command", { cmd: "crash" });
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(result).toMatchObject({ status: "error", structured: { code: "executor_offline" } });
    expect(b.received.some((message) => message.type === "call_tool")).toBe(false);
    const elsewhere = await orchestrator.callTool("exec_command", { cmd: "say hi", environment_id: "b" });
    expect(elsewhere.status).toBe("success");
  });

  it("report which of them could not be attached, and keep the others", async () => {
    const { channel } = scriptedChannel();
    const { orchestrator } = stage({
      executors: [
        { name: "broken", channel: Promise.reject(new Error("no route")) },
        { name: "fine", channel },
      ],
    });
    await expect(orchestrator.ready).rejects.toMatchObject({
      code: "connect_failed",
      message: expect.stringMatching(/`broken`: no route/),
    });
    expect((await orchestrator.callTool("exec_command", { cmd: "say hi" })).status).toBe("success");
  });

  it("have names that are unique and plain", async () => {
    const { orchestrator } = await two();
    const peer = new RawPeer();
    const attach = (name: string) => orchestrator.attach({ name, channel: peer.channel });
    await expect(attach("a")).rejects.toMatchObject({ code: "name_taken" });
    await expect(attach("no good")).rejects.toMatchObject({
      code: "bad_option",
      message: expect.stringMatching(/"no good"; expected 1 to 64/),
    });
    expect(await peer.channel.closed).toEqual({ kind: "closed" });
  });
});

describe("sessions of several executors", () => {
  it("have ids that are unique for the model, in text, structure, live output and requests", async () => {
    const { orchestrator, a, b } = await two();
    const ids: number[] = [];
    const onOutput = (output: { sessionId: number }) => void ids.push(output.sessionId);
    const first = await orchestrator.callTool("exec_command", { cmd: "stay" }, { onOutput });
    const second = await orchestrator.callTool("exec_command", { cmd: "stay", environment_id: "b" }, { onOutput });
    expect(first).toMatchObject({
      structured: { processId: 1000 },
      text: expect.stringContaining("session ID 1000\n"),
    });
    expect(second).toMatchObject({
      structured: { processId: 1001 },
      text: expect.stringContaining("session ID 1001\n"),
    });
    expect(ids).toEqual([1000, 1001]);

    // The next session of `a` is 1001 to itself, which the model knows as another one.
    const third = await orchestrator.callTool("exec_command", { cmd: "stay" });
    expect(third).toMatchObject({ structured: { processId: 1002 } });

    const write = (session_id: number) => orchestrator.callTool("write_stdin", { session_id, chars: "x" });
    expect(await write(1001)).toMatchObject({ structured: { processId: 1001 } });
    expect(b.received.at(-1)).toMatchObject({ arguments: { processId: 1000 } });
    expect(await write(1002)).toMatchObject({ structured: { processId: 1002 } });
    expect(a.received.at(-1)).toMatchObject({ arguments: { processId: 1001 } });
  });

  it("are explained in texts of the executor that name them", async () => {
    const { orchestrator } = await two();
    await orchestrator.callTool("exec_command", { cmd: "stay" });
    await orchestrator.callTool("exec_command", { cmd: "stay", environment_id: "b" });
    await orchestrator.callTool("write_stdin", { session_id: 1001, chars: "exit 0" });
    const ended = await orchestrator.callTool("write_stdin", { session_id: 1001 });
    const note = "Note: session 1000 of executor `b` is session 1001 here.";
    expect(ended).toMatchObject({ status: "error", text: `unknown session 1000\n${note}` });
    const shown = await orchestrator.callTool("show_arguments", { session_id: 1001 });
    expect(shown.structured).toEqual({ session_id: 1000 });
    expect(shown.text).toBe(`Environment: b\n{"session_id":1000}\n${note}`);
  });

  it("do not change output that only looks like a session id", async () => {
    const { orchestrator } = await two();
    await orchestrator.callTool("exec_command", { cmd: "stay" });
    await orchestrator.callTool("exec_command", { cmd: "stay", environment_id: "b" });
    const chars = "Process running with session ID 1000";
    const echoed = await orchestrator.callTool("write_stdin", { session_id: 1001, chars });
    expect(echoed.text).toMatch(
      /Process running with session ID 1001\n.*Output:\nProcess running with session ID 1000$/s,
    );
  });

  it("stay with their executor, whatever environment_id says", async () => {
    const { orchestrator } = await two();
    await orchestrator.callTool("exec_command", { cmd: "stay", environment_id: "b" });
    const result = await orchestrator.callTool("write_stdin", { session_id: 1000, environment_id: "a" });
    expect(result).toMatchObject({
      status: "error",
      text: "session 1000 belongs to environment `b`, not `a`",
      structured: { code: "invalid_arguments", field: "environment_id" },
    });
  });

  it("are known from the text alone where the executor knows only the base messages", async () => {
    const base = scriptedChannel({ initialize: false });
    const { orchestrator } = stage({
      executors: [
        { name: "a", channel: scriptedChannel().channel },
        { name: "b", channel: base.channel },
      ],
    });
    await orchestrator.callTool("exec_command", { cmd: "stay" });
    const args = { cmd: "stay", workdir: "/w", environment_id: "b" };
    const result = await orchestrator.callTool("exec_command", args);
    expect(result).toMatchObject({ structured: undefined, text: expect.stringContaining("session ID 1001\n") });
    await orchestrator.callTool("write_stdin", { session_id: 1001, chars: "x" });
    expect(base.executor.received.at(-1)).toMatchObject({
      arguments: { processId: 1000, input: "x", yieldTimeMs: 250, maxOutputTokens: 10_000 },
    });
  });
});

describe("listTools", () => {
  it("says the configured windows and budget in the schemas, and leaves the executor's list alone", async () => {
    const { channel } = scriptedChannel();
    const { orchestrator } = stage({
      executors: [{ name: "a", channel }],
      defaults: { windows: { execMaxMs: 99_000 }, maxOutputTokensCap: 123, maxOutputTokens: 77 },
    });
    await orchestrator.ready;
    const [exec, write] = orchestrator.listTools();
    expect(exec?.inputSchema).toMatchObject({
      properties: {
        yield_time_ms: { type: "number", description: expect.stringContaining("250–99000") },
        max_output_tokens: { type: "number", description: expect.stringMatching(/default 77, at most 123/) },
      },
    });
    expect(write?.inputSchema).toMatchObject({
      properties: { yield_time_ms: { description: expect.stringContaining("5000–300000") } },
    });
    expect(orchestrator.listTools()).toEqual([exec, write, expect.anything()]);
  });

  it("offers extra permissions only where they may be asked for", async () => {
    const list = async (allowAdditionalPermissions: boolean) => {
      const executors = [{ name: "a", channel: scriptedChannel().channel }];
      const { orchestrator } = stage({ executors, defaults: { allowAdditionalPermissions } });
      await orchestrator.ready;
      return orchestrator.listTools()[0]?.inputSchema.properties;
    };
    expect(await list(false)).not.toHaveProperty("additional_permissions");
    expect(await list(true)).toMatchObject({
      sandbox_permissions: { enum: ["use_default", "require_escalated", "with_additional_permissions"] },
      additional_permissions: { properties: { file_system: { properties: { read: { type: "array" } } } } },
    });
  });
});
