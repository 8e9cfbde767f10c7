import type { LiveOutput } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { scriptedTools } from "../programs/scripted-executor.mjs";
import { INTRODUCTION, RawPeer, scriptedChannel } from "../support/executors.js";
import { attached, stage, withDefaults } from "../support/orchestrators.js";

describe("callTool", () => {
  it("gives text, structured result and live output of a command", async () => {
    const { orchestrator, problems, clock } = await attached(scriptedChannel().channel);
    const outputs: LiveOutput[] = [];
    const result = await orchestrator.callTool("exec_command", '{"cmd":"say héllo"}', {
      onOutput: (output) => void outputs.push(output),
    });
    expect(result).toMatchObject({
      status: "success",
      isError: false,
      text: expect.stringMatching(/^Chunk ID: abc123\n.*Process exited with code 0\n.*Output:\nhéllo$/s),
      structured: { outcome: { kind: "exited", code: 0 }, exitCode: 0, range: { from: 0, to: 6 } },
    });
    expect(outputs).toEqual([{ stream: "stdout", bytes: Buffer.from("héllo"), offset: 0, seq: 1, sessionId: 1000 }]);
    expect(problems).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("says a clamp in front of the text and in the structured result", async () => {
    const { orchestrator } = await attached(scriptedChannel().channel);
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi", yield_time_ms: 99_000 });
    const notice = "yield_time_ms 99000 ms is outside 250–30000 ms; 30000 ms was used";
    expect(result.text.startsWith(`Note: ${notice}\nChunk ID:`)).toBe(true);
    expect(result.structured).toMatchObject({ notices: [notice], exitCode: 0 });
  });

  it("gives a tool without contract the model's arguments as they are", async () => {
    const { orchestrator, executor } = await withScripted();
    const args = { a: [1, { b: null }], session_id: 7 };
    const result = await orchestrator.callTool("show_arguments", args);
    expect(result).toMatchObject({ status: "success", text: JSON.stringify(args), structured: args });
    expect(executor.received.at(-1)).toMatchObject({ type: "call_tool", arguments: args });
  });

  it.each([
    ["nosuch", {}, "unknown_tool", /unknown tool `nosuch`; known tools: exec_command, write_stdin, show_arguments/],
    ["exec_command", "{", "invalid_arguments", /^Invalid arguments for `exec_command`: expected a JSON object/],
    ["exec_command", { cmd: 1 }, "invalid_arguments", /field `cmd`: expected a string, got 1\. Nothing was run\.$/],
    ["write_stdin", {}, "invalid_arguments", /field `session_id`: expected a number, got nothing/],
    ["write_stdin", { session_id: 4321 }, "tool_failed", /^unknown session 4321$/],
    [
      "exec_command",
      { cmd: "say hi", environment_id: "gone" },
      "unknown_environment",
      /expected one of `main`.*`gone`/,
    ],
  ])("%s %j is a result with isError", async (name, args, code, text) => {
    const { orchestrator } = await withScripted();
    const result = await orchestrator.callTool(name, args);
    expect(result).toMatchObject({
      status: "error",
      isError: true,
      text: expect.stringMatching(text),
      structured: { code },
    });
  });

  it("names the field in the structured refusal", async () => {
    const { orchestrator } = await withScripted();
    const args = { cmd: "x", additional_permissions: { file_system: { read: [1] } } };
    const result = await orchestrator.callTool("exec_command", args);
    expect(result.structured).toMatchObject({ field: "additional_permissions.file_system.read[0]" });
  });

  it("follows a session through write_stdin to its end", async () => {
    const { orchestrator } = await withScripted();
    const started = await orchestrator.callTool("exec_command", { cmd: "stay" });
    expect(started).toMatchObject({ structured: { processId: 1000, outcome: { kind: "running" } } });
    const ended = await orchestrator.callTool("write_stdin", { session_id: 1000, chars: "exit 7" });
    expect(ended).toMatchObject({ status: "success", structured: { exitCode: 7 } });
    const after = await orchestrator.callTool("write_stdin", { session_id: 1000 });
    expect(after).toMatchObject({ status: "error", text: "unknown session 1000" });
  });

  it("tells of a session that ended while nobody polled", async () => {
    const exits: unknown[] = [];
    const { orchestrator } = await attached(scriptedChannel().channel, { onSessionExited: (exit) => exits.push(exit) });
    await orchestrator.callTool("exec_command", { cmd: "stay" });
    await orchestrator.callTool("write_stdin", { session_id: 1000, chars: "exit 1" });
    await orchestrator.callTool("show_arguments", {});
    expect(exits).toEqual([{ executor: "main", sessionId: 1000, outcome: { kind: "exited", code: 1 } }]);
  });
});

describe("an interrupted call", () => {
  it("is cancelled, and its result carries the living session", async () => {
    const { orchestrator, executor, clock } = await withScripted();
    const abort = new AbortController();
    const onOutput = () => abort.abort();
    const result = await orchestrator.callTool("exec_command", { cmd: "hang" }, { signal: abort.signal, onOutput });
    expect(result).toMatchObject({
      status: "interrupted",
      isError: false,
      text: expect.stringContaining("Process running with session ID 1000"),
      structured: { processId: 1000, outcome: { kind: "running" } },
    });
    expect(executor.received.at(-1)?.type).toBe("cancel_tool");
    expect(clock.pending).toBe(0);
    const written = await orchestrator.callTool("write_stdin", { session_id: 1000, chars: "hi" });
    expect(written).toMatchObject({ status: "success", structured: { processId: 1000 } });
  });

  it("sends nothing when it was aborted before", async () => {
    const { orchestrator, executor } = await withScripted();
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" }, { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ status: "interrupted", isError: true, structured: { code: "interrupted" } });
    expect(executor.received.some((message) => message.type === "call_tool")).toBe(false);
  });

  it("is lost when the executor does not answer the cancellation, but names the session that was seen", async () => {
    const peer = new RawPeer();
    const [{ orchestrator, clock }] = await Promise.all([attached(peer.channel), peer.introduce(scriptedTools)]);
    const abort = new AbortController();
    const result = orchestrator.callTool(
      "exec_command",
      { cmd: "x" },
      { signal: abort.signal, onOutput: () => abort.abort() },
    );
    const { requestId } = await peer.expect("call_tool");
    await peer.say({ type: "tool_output", requestId, processId: 5, seq: 3, offset: 9, stream: "pty", chunk: "aGk=" });
    await peer.expect("cancel_tool");
    clock.advance(5_000);
    expect(await result).toMatchObject({
      status: "lost",
      text: expect.stringMatching(/interrupted, and the executor did not answer within 5000 ms.*Session 5 was running/),
      structured: { outcome: { kind: "lost", lastSeq: 3 }, environment: "main", sessionId: 5 },
    });
  });

  it("is lost at once where the executor knows no cancel_tool", async () => {
    const { channel } = scriptedChannel({ initialize: false });
    const { orchestrator, clock } = await attached(channel);
    const abort = new AbortController();
    const args = { cmd: "hang", workdir: "/w" };
    const result = orchestrator.callTool("exec_command", args, { signal: abort.signal });
    await clock.timer(40_000);
    abort.abort();
    clock.advance(0);
    expect(await result).toMatchObject({
      status: "lost",
      text: expect.stringMatching(/does not support cancelling calls/),
    });
  });
});

describe("deadlines", () => {
  it("end a unified-exec call at its window and the margin", async () => {
    const { orchestrator, clock } = await withScripted({ timings: { answerMarginMs: 1_000 } });
    const result = orchestrator.callTool("exec_command", { cmd: "hang", yield_time_ms: 2_000 });
    await clock.timer(3_000);
    clock.advance(2_999);
    clock.advance(1);
    expect(await result).toMatchObject({
      status: "lost",
      isError: true,
      text: expect.stringMatching(/did not answer within 3000 ms.*may still be running/),
      structured: { outcome: { kind: "lost", reason: "the executor did not answer within 3000 ms" } },
    });
  });

  it("count the windows of the calls that come first on the same session", async () => {
    const peer = new RawPeer();
    const [{ orchestrator, clock }] = await Promise.all([attached(peer.channel), peer.introduce(scriptedTools)]);
    const started = orchestrator.callTool("exec_command", { cmd: "x" });
    const exec = await peer.expect("call_tool");
    const output = { processId: 5, seq: 1, offset: 0, stream: "pty", chunk: "aGk=" };
    await peer.say({ type: "tool_output", requestId: exec.requestId, ...output });
    const range = { from: 0, to: 2 };
    const structured = { ...RUNNING, processId: 5, range };
    const outcome = { status: "success", content: [{ type: "input_text", text: "" }], structured };
    await peer.say({ type: "call_tool_response", requestId: exec.requestId, toolName: "exec_command", outcome });
    await started;
    void orchestrator.callTool("write_stdin", { session_id: 5, yield_time_ms: 200_000 });
    const poll = await peer.expect("call_tool");
    const write = orchestrator.callTool("write_stdin", { session_id: 5, chars: "x" });
    await peer.expect("call_tool");
    await clock.timer(230_000);
    await clock.timer(230_250);
    await peer.say({ type: "call_tool_response", requestId: poll.requestId, toolName: "write_stdin", outcome });
    clock.advance(230_250);
    expect(await write).toMatchObject({ status: "lost", text: expect.stringContaining("230250 ms") });
    void orchestrator.callTool("write_stdin", { session_id: 5, chars: "y" });
    await clock.timer(30_250);
  });

  it("end any other tool at its own", async () => {
    const peer = new RawPeer();
    const options = withDefaults({ timings: { toolAnswerMs: 700 } });
    const [{ orchestrator, clock, problems }] = await Promise.all([
      attached(peer.channel, options),
      peer.introduce(scriptedTools),
    ]);
    const result = orchestrator.callTool("show_arguments", {});
    const { requestId } = await peer.expect("call_tool");
    clock.advance(700);
    expect(await result).toMatchObject({ status: "lost", structured: { outcome: { lastSeq: 0 } } });
    const late = { status: "success", content: [] };
    await peer.say({ type: "call_tool_response", requestId, toolName: "show_arguments", outcome: late });
    await roundTrip(orchestrator, peer);
    expect(problems).toEqual([]);
  });
});

describe("an executor that goes away", () => {
  it("loses the calls under way, with the last output that was seen and no invented exit", async () => {
    const offline: string[] = [];
    const { channel } = scriptedChannel();
    const { orchestrator, clock } = await attached(channel, {
      onOffline: (name, reason) => offline.push(`${name}: ${reason}`),
    });
    await orchestrator.callTool("exec_command", { cmd: "stay" });
    const result = await orchestrator.callTool("exec_command", { cmd: "crash" });
    expect(result).toMatchObject({
      status: "lost",
      isError: true,
      text: expect.stringMatching(/^Executor `main`: the executor is offline: it closed the channel\./),
      structured: {
        outcome: { kind: "lost", reason: expect.stringContaining("offline"), lastSeq: 1 },
        sessionId: 1001,
      },
    });
    expect(offline).toEqual(["main: it closed the channel"]);
    expect(clock.pending).toBe(0);
    for (const session_id of [1000, 1001]) {
      const after = await orchestrator.callTool("write_stdin", { session_id, chars: "x" });
      expect(after).toMatchObject({
        status: "lost",
        text: expect.stringMatching(/is offline.*whether it still runs is unknown/),
        structured: { outcome: { kind: "lost", lastSeq: 1 }, sessionId: session_id },
      });
    }
  });

  it("is not said to have lost a session that had ended", async () => {
    const { orchestrator } = await attached(scriptedChannel().channel);
    const outputs: LiveOutput[] = [];
    await orchestrator.callTool("exec_command", { cmd: "say hi" }, { onOutput: (output) => void outputs.push(output) });
    await orchestrator.callTool("exec_command", { cmd: "crash" });
    const result = await orchestrator.callTool("write_stdin", { session_id: outputs[0]?.sessionId });
    expect(result).toMatchObject({ status: "error", structured: { code: "executor_offline" } });
  });

  it("answers later calls that nothing was run, and stays in the list", async () => {
    const { channel } = scriptedChannel();
    const { orchestrator } = await attached(channel);
    await orchestrator.callTool("exec_command", { cmd: "crash" });
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(result).toMatchObject({ status: "error", structured: { code: "executor_offline" } });
    expect(result.text).toBe("Executor `main` is offline: it closed the channel. Nothing was run.");
    expect(orchestrator.listTools().map((tool) => tool.name)).toEqual(scriptedTools.map((tool) => tool.name));
    expect(orchestrator.executors).toMatchObject([{ name: "main", offlineReason: "it closed the channel" }]);
  });

  it("is replaced by name; sessions of its former life are not mistaken for new ones", async () => {
    const { orchestrator } = await attached(scriptedChannel().channel);
    await orchestrator.callTool("exec_command", { cmd: "stay" });
    await orchestrator.callTool("exec_command", { cmd: "crash" });
    await orchestrator.attach({ name: "main", channel: scriptedChannel().channel, shutdownOnClose: false });
    const started = await orchestrator.callTool("exec_command", { cmd: "stay" });
    expect(started).toMatchObject({ structured: { processId: 1002 } });
    expect(await orchestrator.callTool("write_stdin", { session_id: 1000 })).toMatchObject({ status: "lost" });
    const written = await orchestrator.callTool("write_stdin", { session_id: 1002, chars: "x" });
    expect(written).toMatchObject({ status: "success", structured: { processId: 1002 } });
  });

  it("gets its sessions back when it is resumed", async () => {
    const { orchestrator } = await attached(scriptedChannel().channel);
    await orchestrator.callTool("exec_command", { cmd: "stay" });
    await orchestrator.callTool("exec_command", { cmd: "crash" });
    const peer = new RawPeer();
    const resumeSessionId = orchestrator.executors[0]?.sessionId ?? "";
    expect(resumeSessionId).toBe("executor-session");
    const again = orchestrator.attach({
      name: "main",
      channel: peer.channel,
      initialize: { resumeSessionId },
      shutdownOnClose: false,
    });
    await peer.introduce(scriptedTools);
    await again;
    const polled = orchestrator.callTool("write_stdin", { session_id: 1000 });
    const { requestId, arguments: args } = await peer.expect("call_tool");
    expect(args).toMatchObject({ processId: 1000 });
    const outcome = { status: "error", message: "seen" };
    await peer.say({ type: "call_tool_response", requestId, toolName: "write_stdin", outcome });
    expect(await polled).toMatchObject({ status: "error", text: "seen" });
    await orchestrator.detach("main");
    await orchestrator.attach({ name: "main", channel: scriptedChannel().channel, shutdownOnClose: false });
    const after = await orchestrator.callTool("write_stdin", { session_id: 1000 });
    expect(after).toMatchObject({ status: "lost", structured: { outcome: { reason: "it was detached" } } });
  });
});

describe("close", () => {
  it("says shutdown, ends calls under way and answers later ones", async () => {
    const { channel, executor } = scriptedChannel();
    const { orchestrator, clock } = stage();
    await orchestrator.attach({ name: "main", channel });
    const hanging = orchestrator.callTool("exec_command", { cmd: "hang" });
    await clock.timer(40_000);
    await orchestrator.close();
    expect(executor.received.at(-1)?.type).toBe("shutdown");
    expect(await hanging).toMatchObject({ status: "lost", text: expect.stringMatching(/it was detached/) });
    expect(await orchestrator.callTool("exec_command", { cmd: "say hi" })).toMatchObject({
      structured: { code: "closed" },
    });
    await expect(orchestrator.attach({ name: "b", channel: scriptedChannel().channel })).rejects.toThrow(/is closed/);
    expect(clock.pending).toBe(0);
  });

  it("ends an executor that is just being attached", async () => {
    const peer = new RawPeer();
    const { orchestrator } = stage();
    const attaching = orchestrator.attach({ name: "main", channel: peer.channel, shutdownOnClose: false });
    const refused = expect(attaching).rejects.toMatchObject({ code: "closed" });
    const { requestId } = await peer.expect("initialize");
    await peer.say({ ...INTRODUCTION, requestId, capabilities: [] });
    await peer.expect("list_tools");
    await orchestrator.close();
    await refused;
    expect(orchestrator.executors).toEqual([]);
    expect(await peer.channel.closed).toEqual({ kind: "closed" });
  });

  it("does not wait for a listener that never lets go", async () => {
    const { orchestrator, clock } = await withScripted();
    const stuck = orchestrator.callTool("exec_command", { cmd: "say hi" }, { onOutput: () => new Promise(() => {}) });
    await clock.timer(40_000);
    await orchestrator.close();
    expect(await stuck).toMatchObject({ status: "lost" });
  });
});

const RUNNING = {
  chunkId: "abc123",
  wallTimeSeconds: 1,
  outcome: { kind: "running" },
  closed: false,
  omitted: [],
  originalTokenCount: 1,
  sandboxDenied: false,
};

async function withScripted(defaults = {}) {
  const { channel, executor } = scriptedChannel();
  return { ...(await attached(channel, withDefaults(defaults))), executor };
}

/** Everything the peer said before has been handled when this ends. */
async function roundTrip(orchestrator: Awaited<ReturnType<typeof attached>>["orchestrator"], peer: RawPeer) {
  const call = orchestrator.callTool("show_arguments", {});
  const { requestId } = await peer.expect("call_tool");
  const outcome = { status: "success", content: [] };
  await peer.say({ type: "call_tool_response", requestId, toolName: "show_arguments", outcome });
  await call;
}
