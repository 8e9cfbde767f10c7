import { createOrchestrator, type RunningCommand } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { closeAfterTest, INTRODUCTION, RawPeer } from "../support/executors.js";

const RESULT = { chunkId: "000000", wallTimeSeconds: 0, omitted: [], originalTokenCount: 0, sandboxDenied: false };
const RUNNING = { ...RESULT, processId: 7, outcome: { kind: "running" }, closed: false, range: { from: 0, to: 0 } };
const ENDED = { ...RESULT, outcome: { kind: "exited", code: 0 }, closed: true, range: { from: 0, to: 0 }, exitCode: 0 };

const TOOLS = ["exec_command", "write_stdin"].map((name) => ({
  name,
  description: name,
  contract: `unified_exec.${name}`,
  inputSchema: { type: "object" },
}));

/** An executor that was asked to start a program. */
async function ask(more: readonly string[] = []) {
  const peer = new RawPeer();
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  closeAfterTest(() => orchestrator.close());
  const attached = orchestrator.attach({ name: "main", channel: peer.channel, shutdownOnClose: false });
  const { requestId } = await peer.expect("initialize");
  await peer.say({ ...INTRODUCTION, requestId, capabilities: ["tool_output", "cancel_tool", ...more] });
  const list = await peer.expect("list_tools");
  await peer.say({ type: "list_tools_response", requestId: list.requestId, tools: TOOLS });
  await attached;
  const answer = (requestId: string, structured: object) => {
    const outcome = { status: "success", content: [], structured };
    return peer.say({ type: "call_tool_response", requestId, toolName: "t", outcome });
  };
  const running: RunningCommand = orchestrator.runCommand({ argv: ["cat"], env: {}, tty: true });
  return { peer, running, answer, first: await peer.expect("call_tool") };
}

/** A program that runs, and its executor with the first wait not answered. */
async function start(more: readonly string[]) {
  const { first, ...asked } = await ask(more);
  await asked.answer(first.requestId, RUNNING);
  return { ...asked, wait: await asked.peer.expect("call_tool") };
}

const input = (text: string) => ({ input: Buffer.from(text).toString("base64"), processId: 7, until: "written" });

describe("a short program", () => {
  it("takes one call: the first waits a moment for the end", async () => {
    const { peer, running, answer, first } = await ask();
    expect(first.arguments).toMatchObject({ yieldTimeMs: 10 });
    await answer(first.requestId, ENDED);
    expect(await running.ended).toMatchObject({ kind: "ended", exitCode: 0 });
    await running.signal("kill").catch(() => {});
    await peer.say({ type: "tools_changed" });
    await peer.expect("list_tools"); // and no call before it
  });

  it("can be signalled during that moment", async () => {
    const { peer, running, answer, first } = await ask();
    const signalled = running.signal("terminate");
    expect(await peer.expect("cancel_tool")).toMatchObject({ requestId: first.requestId });
    await answer(first.requestId, RUNNING);
    const signal = await peer.expect("call_tool");
    expect(signal.arguments).toMatchObject({ signal: "terminate" });
    await answer(signal.requestId, ENDED);
    await signalled;
    await running.ended;
  });
});

describe("a start that takes long", () => {
  const size = { rows: 5, cols: 7 };
  it.each([
    ["the end of input", (running: RunningCommand) => running.closeStdin(), { closeStdin: true }],
    ["a size", (running: RunningCommand) => running.resize(size), { resize: size }],
  ])("is not cancelled for %s, which follows", async (_name, act, step) => {
    const { peer, running, answer, first } = await ask(["concurrent_input"]);
    const taken = act(running);
    await answer(first.requestId, RUNNING);
    const calls = [await peer.expect("call_tool"), await peer.expect("call_tool")]; // and no cancellation before them
    for (const { requestId } of calls) await answer(requestId, RUNNING);
    await taken;
    expect(calls.map((call) => call.arguments)).toContainEqual(expect.objectContaining(step));
  });
});

describe("input for a program", () => {
  it("goes beside the wait for its end, one call at a time", async () => {
    const { peer, running, wait, answer } = await start(["concurrent_input"]);
    const first = running.write(Buffer.from("a"));
    const second = running.write(Buffer.from("b"));
    const one = await peer.expect("call_tool");
    expect(one.arguments).toMatchObject({ ...input("a"), concurrent: true });
    await answer(one.requestId, RUNNING);
    await first;
    const two = await peer.expect("call_tool");
    expect(two.arguments).toMatchObject({ ...input("b"), concurrent: true });
    await answer(two.requestId, RUNNING);
    await second;
    await answer(wait.requestId, ENDED);
    expect(await running.ended).toMatchObject({ kind: "ended", exitCode: 0 });
    await expect(running.write(Buffer.from("c"))).rejects.toThrow("the program has ended");
  });

  it("that the program does not take does not hold up a signal", async () => {
    const { peer, running, wait, answer } = await start(["concurrent_input"]);
    const typed = running.write(Buffer.from("a"));
    const stuck = await peer.expect("call_tool");
    const signalled = running.signal("interrupt");
    expect(await peer.expect("cancel_tool")).toMatchObject({ requestId: stuck.requestId });
    await answer(stuck.requestId, RUNNING);
    await typed;
    const signal = await peer.expect("call_tool");
    expect(signal.arguments).toMatchObject({ signal: "interrupt", concurrent: true });
    await answer(signal.requestId, RUNNING);
    await signalled;
    await answer(wait.requestId, ENDED);
    await running.ended;
  });

  it("that is refused fails alone, and the program is followed to its end", async () => {
    const { peer, running, wait, answer } = await start(["concurrent_input"]);
    const refused = expect(running.write(Buffer.from("a"))).rejects.toThrow("stdin is closed");
    const { requestId } = await peer.expect("call_tool");
    const outcome = { status: "error", message: "stdin is closed" };
    await peer.say({ type: "call_tool_response", requestId, toolName: "t", outcome });
    await refused;
    await answer(wait.requestId, ENDED);
    expect(await running.ended).toMatchObject({ kind: "ended" });
  });

  it("cuts the wait short where an executor cannot take it beside", async () => {
    const { peer, running, wait, answer } = await start([]);
    const typed = running.write(Buffer.from("a"));
    expect(await peer.expect("cancel_tool")).toMatchObject({ requestId: wait.requestId });
    await answer(wait.requestId, RUNNING);
    const write = await peer.expect("call_tool");
    expect(write.arguments).toMatchObject(input("a"));
    expect(write.arguments).not.toHaveProperty("concurrent");
    await answer(write.requestId, RUNNING);
    await typed;
    await answer((await peer.expect("call_tool")).requestId, ENDED);
    await running.ended;
  });
});
