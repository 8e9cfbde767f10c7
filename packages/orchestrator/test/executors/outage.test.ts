import type { OrchestratorMessage } from "@codex/executor-protocol";
import type { ToolCallResult } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { scriptedTools } from "../programs/scripted-executor.mjs";
import { HOST, INTRODUCTION, RawPeer } from "../support/executors.js";
import { stage } from "../support/orchestrators.js";

type Initialize = Extract<OrchestratorMessage, { type: "initialize" }>;
const CAPABILITIES = ["tool_output", "cancel_tool", "session_exited", "resume"];
const RESUME = { graceMs: 3_000, ackBytes: 1000 };
const DONE = { status: "success", content: [{ type: "input_text", text: "done" }] };

/** An executor whose channel is cut, and the ends of the channels that take its place, which come when they are let. */
async function interrupted() {
  const { orchestrator, clock, problems } = stage({ jitter: () => 0 });
  const first = new RawPeer();
  const next: ((peer: RawPeer) => void)[] = [];
  let isFirst = true;
  const reconnect = () => {
    if (isFirst) {
      isFirst = false;
      return Promise.resolve(first.channel);
    }
    return new Promise<RawPeer["channel"]>((resolve) => next.push((peer) => resolve(peer.channel)));
  };
  const attaching = orchestrator.attach({ name: "main", reconnect, shutdownOnClose: false });
  await introduce(first, await first.expect("initialize"));
  await list(first);
  await attaching;
  const call = (tool = "exec_command", args: object = { cmd: "x" }, signal?: AbortSignal): Promise<ToolCallResult> =>
    orchestrator.callTool(tool, args, signal === undefined ? {} : { signal });
  /** Resolves when another channel is asked for. */
  const lose = async () => {
    await first.close();
    await clock.timer(0);
    clock.advance(0);
    while (next.length === 0) await new Promise((resolve) => setImmediate(resolve));
  };
  const letIn = async () => {
    const peer = new RawPeer();
    next.shift()?.(peer);
    return peer;
  };
  /** An executor that knows nothing of what was: its introduction, which it gives as the second answer. */
  const restart = async (host: object = HOST) => {
    const peer = await letIn();
    const { requestId } = await peer.expect("initialize");
    await peer.say({ type: "error", requestId, message: "unknown" });
    await introduce(peer, await peer.expect("initialize"), { host });
    return peer;
  };
  return { orchestrator, clock, problems, first, call, lose, letIn, restart };
}

async function introduce(peer: RawPeer, { requestId }: Initialize, more: object = {}) {
  await peer.say({ ...INTRODUCTION, requestId, capabilities: CAPABILITIES, resume: RESUME, ...more });
}

async function list(peer: RawPeer) {
  const { requestId } = await peer.expect("list_tools");
  await peer.say({ type: "list_tools_response", requestId, tools: scriptedTools });
}

/** The next call that comes; the tools are listed meanwhile. */
async function nextCall(peer: RawPeer) {
  for (;;) {
    const message = await peer.next();
    if (message.type === "call_tool") return message;
    expect(message.type).toBe("list_tools");
    if (message.type === "list_tools") {
      await peer.say({ type: "list_tools_response", requestId: message.requestId, tools: scriptedTools });
    }
  }
}

const answer = (peer: RawPeer, requestId: string, toolName = "exec_command") =>
  peer.say({ type: "call_tool_response", requestId, toolName, outcome: DONE });

describe("a call that is made while an executor reconnects", () => {
  it("is sent to the one that was started again, and numbered as its first", async () => {
    const { call, lose, restart, first } = await interrupted();
    const before = call();
    await first.expect("call_tool");
    await lose();
    const meanwhile = [call(), call("show_arguments", { x: 1 })];
    const peer = await restart();
    expect((await before).status).toBe("lost");
    const tools: string[] = [];
    for (const sequence of [1, 2]) {
      const message = await nextCall(peer);
      expect(message.sequence).toBe(sequence);
      tools.push(message.toolName);
      await answer(peer, message.requestId, message.toolName);
    }
    expect(tools.sort()).toEqual(["exec_command", "show_arguments"]);
    for (const result of meanwhile) expect(await result).toMatchObject({ status: "success", text: "done" });
  });

  it("is not sent where the host is another one", async () => {
    const { call, lose, restart } = await interrupted();
    await lose();
    const result = call();
    const peer = await restart({ ...HOST, home: "/home/other" });
    expect(await result).toMatchObject({
      status: "error",
      structured: { code: "changed" },
      text: expect.stringMatching(/is on another host\. Nothing was run\.$/),
    });
    const next = call();
    const message = await nextCall(peer);
    await answer(peer, message.requestId);
    expect((await next).status).toBe("success");
  });

  it("is not sent where it names a session of the one before", async () => {
    const { call, lose, restart, first } = await interrupted();
    const started = call();
    const { requestId } = await first.expect("call_tool");
    const text = "Chunk ID: 000000\nWall time: 0.1 seconds\nProcess running with session ID 7\nOutput:\n";
    const outcome = { status: "success", content: [{ type: "input_text", text }] };
    await first.say({ type: "call_tool_response", requestId, toolName: "exec_command", outcome });
    await started;
    await lose();
    const result = call("write_stdin", { session_id: 7, chars: "rm x\n" });
    const peer = await restart();
    expect(await result).toMatchObject({ status: "lost", structured: { sessionId: 7 } });
    const next = call();
    const message = await nextCall(peer);
    expect(message.toolName).toBe("exec_command");
    await answer(peer, message.requestId);
    await next;
  });

  it("was not run when it is interrupted, or when the executor is not found in time", async () => {
    const { call, lose, clock, letIn } = await interrupted();
    await lose();
    const interrupt = new AbortController();
    const given = call("exec_command", { cmd: "x" }, interrupt.signal);
    const waiting = call();
    await new Promise((resolve) => setImmediate(resolve));
    interrupt.abort();
    expect(await given).toMatchObject({ status: "interrupted", text: expect.stringMatching(/Nothing was run/) });
    clock.advance(3_000);
    expect(await waiting).toMatchObject({
      status: "error",
      structured: { code: "executor_offline" },
      text: expect.stringMatching(/was not reached again within 3000 ms.*Nothing was run/),
    });
    await letIn();
  });
});

describe("attempts to resume", () => {
  it("are numbered, on from the last that the executor knows", async () => {
    const { lose, letIn, first, clock } = await interrupted();
    await first.say({ type: "tools_changed" });
    await lose();
    const late = await letIn();
    expect(await late.expect("initialize")).toMatchObject({ resumeSessionId: "raw", attempt: 1 });
    await late.close();
    await clock.timer(0);
    clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
    const second = await letIn();
    const asked = await second.expect("initialize");
    expect(asked).toMatchObject({ resumeSessionId: "raw", attempt: 2 });
    await introduce(second, asked, { resume: { ...RESUME, lastAttempt: 7 } });
    await second.expect("list_tools");
    await second.close();
    await clock.timer(0);
    clock.advance(0);
    await new Promise((resolve) => setImmediate(resolve));
    const third = await letIn();
    expect(await third.expect("initialize")).toMatchObject({ resumeSessionId: "raw", attempt: 8 });
  });

  it("come often where there is little time, and one that hangs leaves time for others", async () => {
    const { lose, letIn, clock } = await interrupted();
    await lose();
    for (let count = 0; count < 3; count++) {
      // An attempt may take a quarter of the grace.
      clock.advance(750);
      await clock.timer(0);
      clock.advance(0);
      await new Promise((resolve) => setImmediate(resolve));
    }
    for (let count = 0; count < 3; count++) await letIn();
    const peer = await letIn();
    expect(await peer.expect("initialize")).toMatchObject({ resumeSessionId: "raw" });
  });
});
