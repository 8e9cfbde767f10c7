import type { Channel } from "@codex/channel";
import { type ExecutorToolSpec, STANDARD_TOOLS } from "@codex/executor-protocol";
import type { ProblemKind } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { scriptedTools } from "../programs/scripted-executor.mjs";
import { INTRODUCTION, RawPeer } from "../support/executors.js";
import { attached, type StageOptions, stage, withDefaults } from "../support/orchestrators.js";

const RESULT = {
  chunkId: "abc123",
  wallTimeSeconds: 1,
  exitCode: 0,
  outcome: { kind: "exited", code: 0 },
  closed: true,
  range: { from: 0, to: 2 },
  omitted: [],
  originalTokenCount: 1,
  sandboxDenied: false,
};
const success = (structured?: unknown, text = "ok") => ({
  status: "success",
  content: [{ type: "input_text", text }],
  ...(structured === undefined ? {} : { structured }),
});

async function hostile({
  tools = scriptedTools,
  ...options
}: StageOptions & { tools?: readonly ExecutorToolSpec[] } = {}) {
  const peer = new RawPeer();
  const [made] = await Promise.all([attached(peer.channel, options), peer.introduce(tools)]);
  const answer = (requestId: string, outcome: unknown, toolName = "exec_command") =>
    peer.say({ type: "call_tool_response", requestId, toolName, outcome });
  const call = async (onOutput = () => {}) => {
    const result = made.orchestrator.callTool("exec_command", { cmd: "x" }, { onOutput });
    const { requestId } = await peer.expect("call_tool");
    return { result, requestId };
  };
  const kinds = (): ProblemKind[] => made.problems.map((problem) => problem.kind);
  return { ...made, peer, answer, call, kinds };
}

describe("messages that the protocol does not allow", () => {
  it.each<[string, unknown, ProblemKind]>([
    ["no object", [1], "invalid_message"],
    ["no type", { requestId: "x" }, "invalid_message"],
    ["an unknown type", { type: "obey" }, "unknown_type"],
    ["a wrong field", { type: "session_exited", processId: "x" }, "invalid_message"],
    ["an answer nobody waits for", { type: "shutdown_response", requestId: "nobody" }, "unknown_request"],
    ["an error for nothing", { type: "error", requestId: null, message: "boo\u001b[2J" }, "unassigned_error"],
    ["an error for an unknown request", { type: "error", requestId: "nobody", message: "boo" }, "unknown_request"],
    ["output for nothing", output("nobody", {}), "unknown_request"],
  ])("%s is a problem and harms nothing", async (_name, message, kind) => {
    const { peer, answer, call, problems } = await hostile();
    const { result, requestId } = await call();
    await peer.say(message);
    await answer(requestId, success(RESULT));
    expect(await result).toMatchObject({ status: "success", text: "ok" });
    expect(problems).toMatchObject([{ executor: "main", kind }]);
    expect(problems[0]?.detail).not.toMatch(/[\u0000-\u001f]/);
  });

  it("a frame that is no JSON is one too", async () => {
    const { peer, answer, call, kinds } = await hostile();
    const { result, requestId } = await call();
    await peer.sayEncoded("{garbage");
    await answer(requestId, success(RESULT));
    expect((await result).status).toBe("success");
    expect(kinds()).toEqual(["malformed"]);
  });

  it("a second answer changes nothing", async () => {
    const { answer, call, kinds } = await hostile();
    const first = await call();
    await answer(first.requestId, success(RESULT, "first"));
    await answer(first.requestId, success(RESULT, "second"));
    expect((await first.result).text).toBe("first");
    const next = await call();
    await answer(next.requestId, success(RESULT));
    await next.result;
    expect(kinds()).toEqual(["duplicate_answer"]);
  });

  it.each<[string, (requestId: string) => unknown, RegExp]>([
    ["another type", (requestId) => ({ type: "shutdown_response", requestId }), /shutdown_response where call_tool/],
    [
      "an unreadable one",
      (requestId) => ({
        type: "call_tool_response",
        requestId,
        toolName: "exec_command",
        outcome: { status: "maybe" },
      }),
      /could not be read/,
    ],
  ])("%s as the answer of a call loses it at once", async (_name, message, reason) => {
    const { peer, call } = await hostile();
    const { result, requestId } = await call();
    await peer.say(message(requestId));
    expect(await result).toMatchObject({ status: "lost", text: expect.stringMatching(reason) });
  });

  it("an error message for a call is its failure", async () => {
    const { peer, call, problems } = await hostile();
    const { result, requestId } = await call();
    await peer.say({ type: "error", requestId, message: "missing field `arguments`" });
    expect(await result).toMatchObject({ status: "error", text: "missing field `arguments`" });
    expect(problems).toEqual([]);
  });

  it("an answer for another tool is noted", async () => {
    const { answer, call, kinds } = await hostile();
    const { result, requestId } = await call();
    await answer(requestId, success(RESULT), "other");
    expect((await result).status).toBe("success");
    expect(kinds()).toEqual(["wrong_answer"]);
  });
});

describe("live output that cannot be", () => {
  it.each<[string, object]>([
    ["a negative offset", { offset: -1 }],
    ["no base64", { chunk: "a!==" }],
    ["a chunk cut short", { chunk: "aGkx0" }],
    ["a repeated seq", { seq: 1 }],
    ["a range seen before", { offset: 1 }],
    ["another process", { processId: 10 }],
    ["an unknown stream", { stream: "log" }],
  ])("%s is dropped", async (_name, wrong) => {
    const seen: number[] = [];
    const { peer, answer, call, kinds, orchestrator } = await hostile();
    const { result, requestId } = await call(() => seen.push(seen.length));
    await peer.say(output(requestId, {}));
    await peer.say({ ...output(requestId, { seq: 2, offset: 2 }), ...wrong });
    await answer(requestId, success(RESULT));
    expect((await result).status).toBe("success");
    expect(seen).toHaveLength(1);
    expect(kinds()).toHaveLength(1);
    expect(["invalid_output", "invalid_message"]).toContain(kinds()[0]);
    expect(orchestrator.executors[0]?.problemCount).toBe(1);
  });

  it("does not suffer from a listener that throws", async () => {
    const { peer, answer, call, problems } = await hostile();
    const { result, requestId } = await call(() => {
      throw new Error("listener broke");
    });
    await peer.say(output(requestId, {}));
    await answer(requestId, success(RESULT));
    expect((await result).status).toBe("success");
    expect(problems).toMatchObject([{ kind: "callback_failed", detail: "onOutput: listener broke" }]);
  });

  it("does not answer for listeners that throw more often than it may break the protocol", async () => {
    const limits = { problemsUntilClosed: 5, problemsKept: 5 };
    const { peer, answer, call, problems, orchestrator } = await hostile(withDefaults({ limits }));
    const { result, requestId } = await call(() => {
      throw new Error("listener broke");
    });
    for (let seq = 1; seq <= 9; seq += 1) await peer.say(output(requestId, { seq, offset: 2 * (seq - 1) }));
    await answer(requestId, success(RESULT));
    expect((await result).status).toBe("success");
    expect(problems.map(({ kind }) => kind)).toEqual(Array(5).fill("callback_failed"));
    expect(orchestrator.executors[0]).toMatchObject({ offlineReason: undefined, problemCount: 9 });
  });
});

describe("results that contradict themselves", () => {
  it("the structure of another standard tool is what its type says, or goes", async () => {
    const { answer, orchestrator, peer, kinds } = await hostile({ tools: [STANDARD_TOOLS.list_sessions] });
    for (const sessions of [[], [{ sessionId: "1" }]]) {
      const result = orchestrator.callTool("list_sessions", {});
      const { requestId } = await peer.expect("call_tool");
      await answer(requestId, success({ sessions, more: 1 }, "body"), "list_sessions");
      const { text, structured } = await result;
      const isValid = sessions.length === 0;
      expect(structured).toEqual(isValid ? { sessions, more: 1 } : undefined);
      expect(text).toMatch(isValid ? /^body$/ : /^Note: the executor's structured result was left out: .*\nbody$/);
    }
    expect(kinds()).toEqual(["invalid_result"]);
  });

  it.each<[string, object]>([
    ["an exit code of a running process", { processId: 7, outcome: { kind: "running" } }],
    ["another exit code", { exitCode: 1 }],
    ["running without an id", { exitCode: undefined, outcome: { kind: "running" } }],
    ["a range backwards", { range: { from: 2, to: 1 } }],
    ["a range of wrong type", { range: { from: "0", to: 1 } }],
    ["an unknown outcome", { outcome: { kind: "vanished" } }],
  ])("%s: the text stays, the structure goes", async (_name, wrong) => {
    const { answer, call, kinds } = await hostile();
    const { result, requestId } = await call();
    await answer(requestId, success({ ...RESULT, ...wrong }, "Output:\nbody"));
    const { status, text, structured } = await result;
    expect(status).toBe("success");
    expect(structured).toBeUndefined();
    expect(text).toMatch(/^Note: the executor's structured result was left out: .*\nOutput:\nbody$/);
    expect(kinds()).toEqual(["invalid_result"]);
  });

  it("cuts a text that is larger than any result may be", async () => {
    const { answer, call, kinds } = await hostile(withDefaults({ limits: { resultTextBytes: 10 } }));
    const { result, requestId } = await call();
    await answer(requestId, success(RESULT, "ééééééé"));
    expect((await result).text).toBe("ééééé\n[cut: the executor returned 14 bytes of text (limit 10 bytes)]");
    expect(kinds()).toEqual(["invalid_result"]);
  });
});

describe("an executor that floods", () => {
  it("is not listened to any more after so many problems; calls are lost, nothing hangs", async () => {
    const limits = { problemsUntilClosed: 20, problemsKept: 5 };
    const { peer, call, problems, orchestrator } = await hostile(withDefaults({ limits }));
    const { result } = await call();
    await Promise.all(Array.from({ length: 40 }, () => peer.say({ type: "obey" }))).catch(() => {});
    expect(await result).toMatchObject({ status: "lost", text: expect.stringMatching(/too many messages/) });
    expect(problems).toHaveLength(21);
    expect(problems.at(-1)).toMatchObject({ kind: "too_many_problems", detail: expect.stringMatching(/limit 20/) });
    const [executor] = orchestrator.executors;
    expect(executor?.problems).toHaveLength(5);
    expect(executor?.problemCount).toBe(20);
    expect(executor?.offlineReason).toMatch(/too many messages/);
  });

  it("does not keep the rest of the program waiting", async () => {
    const peer = new RawPeer();
    const made = stage();
    let left = 0;
    const flooded: Channel = {
      send: (value) => peer.channel.send(value),
      sendEncoded: (json) => peer.channel.sendEncoded(json),
      receive: () => (left-- > 0 ? Promise.resolve({ kind: "value", value: EXIT }) : peer.channel.receive()),
      close: () => peer.channel.close(),
      [Symbol.asyncDispose]: () => peer.channel.close(),
      closed: peer.channel.closed,
    };
    await Promise.all([made.orchestrator.attach({ name: "main", channel: flooded }), peer.introduce(scriptedTools)]);
    left = 100_000;
    await peer.say(EXIT);
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    expect(left).toBeGreaterThan(0);
    left = 0;
    await peer.close();
  });

  it("lists again once while a listing is in progress, however often it is asked to", async () => {
    const changes: string[] = [];
    const { peer, orchestrator } = await hostile({ onToolsChanged: (name) => changes.push(name) });
    for (let count = 0; count < 50; count++) await peer.say({ type: "tools_changed" });
    const tools = scriptedTools.slice(0, 1);
    for (let count = 0; count < 2; count++) {
      const { requestId } = await peer.expect("list_tools");
      await peer.say({ type: "list_tools_response", requestId, tools });
    }
    const call = orchestrator.callTool("exec_command", { cmd: "x" });
    // The next message is the call: nobody asked for the list a third time.
    const { requestId } = await peer.expect("call_tool");
    await peer.say({ type: "error", requestId, message: "no" });
    await call;
    expect(orchestrator.listTools().map((tool) => tool.name)).toEqual(["exec_command"]);
    expect(changes).toEqual(["main", "main"]);
  });

  it("keeps the tools it has when a new list cannot be read", async () => {
    const { peer, orchestrator, kinds, call, answer } = await hostile();
    await peer.say({ type: "tools_changed" });
    const { requestId } = await peer.expect("list_tools");
    await peer.say({ type: "list_tools_response", requestId, tools: "all" });
    const next = await call();
    await answer(next.requestId, success(RESULT));
    await next.result;
    expect(orchestrator.listTools()).toHaveLength(3);
    expect(kinds()).toEqual(["invalid_message", "invalid_tool"]);
  });
});

describe("attaching", () => {
  const attach = (peer: RawPeer, options = {}) => {
    const made = stage();
    return { ...made, attaching: made.orchestrator.attach({ name: "main", channel: peer.channel, ...options }) };
  };

  it("gives up on an executor that does not introduce itself", async () => {
    const peer = new RawPeer();
    const { attaching, clock } = attach(peer);
    await peer.expect("initialize");
    clock.advance(10_000);
    await expect(attaching).rejects.toMatchObject({
      code: "initialize_timeout",
      message: "executor `main`: `initialize` failed: the executor did not answer within 10000 ms",
    });
    expect(await peer.channel.closed).toEqual({ kind: "closed" });
  });

  it("gives up on one that does not list its tools, ends midway, or cannot be read", async () => {
    const slow = new RawPeer();
    const slowly = attach(slow);
    const { requestId } = await slow.expect("initialize");
    await slow.say({ ...INTRODUCTION, requestId, capabilities: [] });
    await slow.expect("list_tools");
    slowly.clock.advance(10_000);
    await expect(slowly.attaching).rejects.toMatchObject({ code: "list_tools_timeout" });

    const gone = new RawPeer();
    const going = attach(gone);
    await gone.expect("initialize");
    await gone.close();
    await expect(going.attaching).rejects.toMatchObject({
      code: "initialize_failed",
      message: expect.stringMatching(/it closed the channel/),
    });

    const odd = new RawPeer();
    const oddly = attach(odd);
    const message = await odd.expect("initialize");
    await odd.say({ ...INTRODUCTION, requestId: message.requestId, capabilities: [], host: 7 });
    await expect(oddly.attaching).rejects.toMatchObject({
      code: "initialize_failed",
      message: expect.stringMatching(/could not be read/),
    });
  });

  it("tells at once a server of another protocol, and one that sends back what it is sent", async () => {
    const server = new RawPeer();
    const foreign = attach(server);
    await server.expect("initialize");
    await server.say({ error: { code: -32600, message: "missing field" }, id: -1 });
    await expect(foreign.attaching).rejects.toMatchObject({
      code: "wrong_protocol",
      message: expect.stringMatching(/JSON-RPC, as an exec-server does/),
    });

    const echo = new RawPeer();
    const echoed = attach(echo);
    await echo.say(await echo.expect("initialize"));
    await expect(echoed.attaching).rejects.toMatchObject({
      code: "initialize_failed",
      message: expect.stringMatching(/sends back what it is sent/),
    });
  });

  it("refuses another version of the protocol, and a resume that is not granted", async () => {
    const newer = new RawPeer();
    const first = attach(newer);
    const { requestId } = await newer.expect("initialize");
    await newer.say({ ...INTRODUCTION, requestId, capabilities: [], protocolVersion: "2" });
    await expect(first.attaching).rejects.toMatchObject({
      code: "initialize_failed",
      message: expect.stringMatching(/version 2, expected 1/),
    });

    const forgetful = new RawPeer();
    const second = attach(forgetful, { initialize: { resumeSessionId: "old" } });
    const asked = await forgetful.expect("initialize");
    expect(asked.resumeSessionId).toBe("old");
    await forgetful.say({ type: "error", requestId: asked.requestId, message: "unknown session `old`" });
    await expect(second.attaching).rejects.toMatchObject({ message: expect.stringMatching(/unknown session `old`/) });
  });

  it("closes a channel also after it has ended by itself", async () => {
    const peer = new RawPeer();
    const { orchestrator } = stage();
    const closed = new Promise<void>((resolve) => {
      const close = peer.channel.close.bind(peer.channel);
      peer.channel.close = () => {
        resolve();
        return close();
      };
    });
    const attaching = orchestrator.attach({ name: "main", channel: peer.channel });
    await peer.introduce([]);
    await attaching;
    await peer.close();
    await closed;
  });

  it("gives up on a channel that never comes, and closes it when it does", async () => {
    const peer = new RawPeer();
    let arrive!: (channel: RawPeer["channel"]) => void;
    const channel = new Promise<RawPeer["channel"]>((resolve) => {
      arrive = resolve;
    });
    const { orchestrator, clock } = stage();
    const attaching = orchestrator.attach({ name: "main", channel });
    clock.advance(30_000);
    await expect(attaching).rejects.toMatchObject({
      code: "connect_timeout",
      message: expect.stringMatching(/within 30000 ms/),
    });
    arrive(peer.channel);
    expect(await peer.channel.closed).toEqual({ kind: "closed" });
  });
});

const EXIT = { type: "session_exited", processId: 1, outcome: { kind: "exited", code: 0 } };

function output(requestId: string, more: object) {
  return { type: "tool_output", requestId, processId: 9, seq: 1, offset: 0, stream: "stdout", chunk: "aGk=", ...more };
}
