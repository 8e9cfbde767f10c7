import { createMemoryChannelPair } from "@codex/channel";
import type { LogFields } from "@codex/telemetry";
import { describe, expect, it } from "vitest";
import { createCountingIds, createExecutor, type ExecutorTool, ToolError } from "../../src/index.js";
import { bytesOf, Client, errorOf } from "../support/client.js";
import { CountedChannel } from "../support/counted-channel.js";
import { ManualClock } from "../support/manual-clock.js";
import { createScriptedBackend } from "../support/scripted-backend.js";
import { useScriptedHosts } from "../support/scripted-host.js";
import { startSession } from "../support/sessions.js";

const text = (value: string) => ({
  status: "success" as const,
  content: [{ type: "input_text" as const, text: value }],
});
const tool = (name: string, call: ExecutorTool["call"]): ExecutorTool => ({
  spec: { name, description: `The tool ${name}.`, inputSchema: { type: "object" } },
  call,
});

describe("tool calls", () => {
  const open = useScriptedHosts();

  it("that reuse the id of one under way are refused, and do not disturb it", async () => {
    const { client, backend } = open();
    const first = client.exec({ command: ["scripted"] }, "twin");
    const process = await backend.started(0);
    await client.send({ type: "call_tool", requestId: "twin", toolName: "list_sessions", arguments: {} });
    await client.send({ type: "list_tools", requestId: "twin" });
    await client.call("list_sessions", {});
    expect(client.all("error").map(({ requestId, message }) => [requestId, message])).toEqual([
      ["twin", "request id `twin` belongs to a call in progress"],
      ["twin", "request id `twin` belongs to a call in progress"],
    ]);
    process.end(9);
    expect((await first).result.exitCode).toBe(9);
    expect(client.all("call_tool_response").filter(({ requestId }) => requestId === "twin").length).toBe(1);
  });

  it("may use an id again once it was answered", async () => {
    const { client } = open();
    for (let round = 1; round <= 3; round++) {
      await client.send({ type: "call_tool", requestId: "same", toolName: "list_sessions", arguments: {} });
      await client.find(() => client.all("call_tool_response").length === round);
    }
    expect(client.all("error")).toEqual([]);
  });

  it("are cancelled with their executor", async () => {
    const patient = tool("patient", async (_args, { signal }) => {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      return text("let go");
    });
    const { client } = open({ tools: [patient] });
    const answer = client.call("patient", {});
    await client.send({ type: "shutdown", requestId: "s" });
    expect(await answer).toEqual(text("let go"));
    await client.served;
  });

  it("are bounded in number: one more is an error outcome", async () => {
    const { client, backend } = open({ limits: { inFlightCalls: 2 } });
    const calls = [client.exec({ command: ["scripted"] }), client.exec({ command: ["scripted"] })];
    await backend.started(1);
    expect(errorOf(await client.call("list_sessions", {}))).toBe(
      "too many concurrent tool calls (limit 2 calls); wait for one to complete",
    );
    for (const process of backend.processes) process.end(0);
    await Promise.all(calls);
    expect((await client.call("list_sessions", {})).status).toBe("success");
  });

  it("are bounded too while nobody reads their answers", async () => {
    const clock = new ManualClock();
    const limits = { inFlightCalls: 4 };
    const executor = createExecutor({ backend: createScriptedBackend(clock), clock, limits });
    const [own, theirs] = createMemoryChannelPair({ highWaterBytes: 2_000 });
    const counted = new CountedChannel(theirs);
    const client = new Client(executor, [own, counted]);
    const release = client.stall();
    const call = (index: number) =>
      client.send({ type: "call_tool", requestId: `c${index}`, toolName: "list_sessions", arguments: {} });
    const sent = Promise.all(Array.from({ length: 200 }, (_, index) => call(index)));
    await counted.untilWaiting(5); // the four, and the answer that refuses a fifth
    release();
    await sent;
    await client.ofType("call_tool_response", "c199");
    expect(client.all("call_tool_response").length).toBe(200);
    expect(counted.most).toBe(5);
    await client.close();
  });

  it("of a tool that throws, or returns nonsense, are error outcomes and are logged", async () => {
    const problems: unknown[] = [];
    const tools = [
      tool("throws", () => Promise.reject(new Error("boom"))),
      tool("throws_at_once", () => {
        throw new TypeError("at once");
      }),
      tool("explains", () => Promise.reject(new ToolError("give it a name"))),
      tool("nonsense", async () => JSON.parse('{"status":"fine"}')),
      tool("nothing", async () => JSON.parse("null")),
      tool("huge", async () => text("x".repeat(2_000))),
      tool("cyclic", async () => {
        const structured: Record<string, unknown> = {};
        structured.self = structured;
        return { ...text(""), structured };
      }),
    ];
    const log = {
      error: (event: string, fields: LogFields = {}) => void problems.push([event, fields.tool, fields.error]),
    };
    const { client } = open({ tools, telemetry: { log }, channel: { maxMessageBytes: 1_500 } });
    const call = async (name: string) => errorOf(await client.call(name, {}));
    expect(await call("throws")).toBe("tool `throws` failed: boom");
    expect(await call("throws_at_once")).toBe("tool `throws_at_once` failed: at once");
    expect(await call("explains")).toBe("give it a name");
    expect(await call("nonsense")).toBe("tool `nonsense` returned no valid result");
    expect(await call("nothing")).toBe("tool `nothing` returned no valid result");
    expect(await call("huge")).toMatch(/^the result of `huge` could not be sent: .*1500 bytes/);
    expect(await call("cyclic")).toMatch(/^the result of `cyclic` could not be sent/);
    expect(problems).toEqual([
      ["tool threw", "throws", "Error"],
      ["tool threw", "throws_at_once", "TypeError"],
    ]);
  });

  it("reach added tools with their arguments, live output and cancellation", async () => {
    const seen: unknown[] = [];
    const slow = tool("slow", async (args, { requestId, signal, emitOutput }) => {
      seen.push(args, requestId);
      await emitOutput(Buffer.from(`${"a".repeat(8_190)}€${"a".repeat(1_807)}`));
      await emitOutput(Buffer.from("b"), "stderr");
      if (!signal.aborted) await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      return text("cancelled");
    });
    const { client } = open({ tools: [slow] });
    await client.initialize();
    const answer = client.call("slow", { deep: [1, null, "x"] }, "s");
    await client.find((message) => message.type === "tool_output" && message.stream === "stderr");
    await client.send({ type: "cancel_tool", requestId: "s" });
    expect(await answer).toEqual(text("cancelled"));
    expect(seen).toEqual([{ deep: [1, null, "x"] }, "s"]);
    const deltas = client.deltas("s");
    expect(bytesOf(deltas).toString()).toBe(`${"a".repeat(8_190)}€${"a".repeat(1_807)}b`);
    expect(deltas.map(({ offset, seq, stream }) => [offset, seq, stream])).toEqual([
      [0, 1, "stdout"],
      [8190, 2, "stdout"],
      [10_000, 3, "stderr"],
    ]);
  });

  it("emit in order what a tool does not wait for, and nothing once the orchestrator is gone", async () => {
    let emit: ((bytes: Uint8Array) => Promise<void>) | undefined;
    const hasty = tool("hasty", async (_args, { emitOutput }) => {
      emit = emitOutput;
      void emitOutput(Buffer.alloc(20_000, "a"));
      void emitOutput(Buffer.alloc(20_000, "b"));
      await emitOutput(Buffer.from("c"));
      return text("done");
    });
    const { client } = open({ tools: [hasty] });
    await client.initialize();
    await client.call("hasty", {});
    expect(bytesOf(client.deltas()).toString()).toBe(`${"a".repeat(20_000)}${"b".repeat(20_000)}c`);
    const ends = client.deltas().map(({ offset, chunk }) => offset + Buffer.from(chunk, "base64").length);
    expect(client.deltas().map(({ offset }) => offset)).toEqual([0, ...ends.slice(0, -1)]);
    await client.close();
    await emit?.(Buffer.from("late"));
  });

  it("emit nothing to an orchestrator that did not introduce itself", async () => {
    const noisy = tool("noisy", async (_args, { emitOutput }) => {
      await emitOutput(Buffer.from("noise"));
      return text("done");
    });
    const { client } = open({ tools: [noisy] });
    await client.call("noisy", {});
    expect(client.messages.map(({ type }) => type)).toEqual(["call_tool_response"]);
  });

  it("of a tool that ignores the end do not keep the executor", async () => {
    const deaf = tool("deaf", () => new Promise(() => {}));
    const { client, clock } = open({ tools: [deaf] });
    await client.send({ type: "call_tool", requestId: "d", toolName: "deaf", arguments: {} });
    await client.send({ type: "shutdown", requestId: "s" });
    await client.ofType("shutdown_response");
    let served = false;
    void client.served.then(() => {
      served = true;
    });
    while (!served) {
      await Promise.race([clock.untilWaiting(), client.served]);
      clock.advance(10_000);
    }
  });

  it("change with the registry, which is announced only after initialize", async () => {
    const clock = new ManualClock();
    const executor = createExecutor({ backend: createScriptedBackend(clock), clock });
    const [plain, introduced] = [new Client(executor), new Client(executor)];
    await introduced.initialize();
    const remove = executor.tools.add(tool("late", async () => text("here")));
    await introduced.ofType("tools_changed");
    expect(await introduced.call("late", {})).toEqual(text("here"));
    remove();
    expect(errorOf(await plain.call("late", {}))).toBe("unknown executor tool `late`");
    expect(plain.all("tools_changed")).toEqual([]);
    expect(introduced.all("tools_changed").length).toBe(2);
    expect(() => executor.tools.add(tool("exec_command", async () => text("")))).toThrow(/already a tool/);
    await Promise.all([plain.close(), introduced.close()]);
  });

  it("of several orchestrators have sessions of their own", async () => {
    const clock = new ManualClock();
    const backend = createScriptedBackend(clock);
    const executor = createExecutor({ backend, clock, ids: createCountingIds() });
    const [one, two] = [new Client(executor), new Client(executor)];
    const { id, process } = await startSession({ client: one, backend, clock });
    const request = { processId: id, input: "", yieldTimeMs: 0, maxOutputTokens: 0 };
    expect(errorOf(await two.call("write_stdin", request))).toMatch(/unknown session/);
    expect(errorOf(await two.call("kill_session", { session_id: id }))).toMatch(/unknown session/);
    expect(await two.call("list_sessions", {})).toMatchObject({ structured: { sessions: [] } });
    const asked = await two.call("list_sessions", { scope: "executor", sessionScope: "executor" });
    expect(asked, "no argument of a model widens the scope").toMatchObject({ structured: { sessions: [] } });
    const everywhere = await two.call("list_sessions", {}, "all", { sessionScope: "executor" });
    expect(everywhere).toMatchObject({ structured: { sessions: [{ sessionId: id }] } });
    await two.close();
    expect(process.outcome.kind).toBe("running");
    await one.close();
    expect(process.outcome.kind).toBe("signaled");
  });

  it("resume no sessions yet", async () => {
    const { client } = open();
    const initialize = { type: "initialize", clientName: "x", protocolVersion: "1" };
    await client.send({ ...initialize, requestId: "r", resumeSessionId: "lost" });
    expect(await client.ofType("error", "r")).toMatchObject({
      message: "unknown resumeSessionId `lost`: there are no sessions to resume",
    });
    await client.send({ ...initialize, requestId: "n", resumeSessionId: null });
    await client.ofType("initialize_response", "n");
  });
});
