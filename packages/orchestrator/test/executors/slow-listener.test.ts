import type { LiveOutput } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { scriptedTools } from "../programs/scripted-executor.mjs";
import { INTRODUCTION, RawPeer } from "../support/executors.js";
import { attached, type StageOptions, withDefaults } from "../support/orchestrators.js";

const ACK_BYTES = 10;

/** An executor that counts on acknowledgements, and an orchestrator attached to it. */
async function peered(options: StageOptions = {}) {
  const peer = new RawPeer();
  const introduce = async () => {
    const { requestId } = await peer.expect("initialize");
    const capabilities = ["tool_output", "cancel_tool", "session_exited", "resume"];
    const resume = { graceMs: 1000, ackBytes: ACK_BYTES };
    await peer.say({ ...INTRODUCTION, requestId, capabilities, resume });
    const list = await peer.expect("list_tools");
    await peer.say({ type: "list_tools_response", requestId: list.requestId, tools: scriptedTools });
  };
  const [made] = await Promise.all([attached(peer.channel, options), introduce()]);
  const call = async (onOutput: (output: LiveOutput) => void | Promise<void>, signal?: AbortSignal) => {
    const result = made.orchestrator.callTool(
      "exec_command",
      { cmd: "x" },
      signal === undefined ? { onOutput } : { onOutput, signal },
    );
    const { requestId } = await peer.expect("call_tool");
    let offset = 0;
    let seq = 0;
    const say = async (text: string, stream = "stdout", processId = 9) => {
      const chunk = Buffer.from(text).toString("base64");
      seq += 1;
      await peer.say({ type: "tool_output", requestId, processId, seq, offset, stream, chunk });
      offset += Buffer.byteLength(text);
    };
    const answer = () => peer.say({ type: "call_tool_response", requestId, toolName: "exec_command", outcome: DONE });
    return { result, requestId, say, answer };
  };
  return { ...made, peer, call };
}

const DONE = { status: "success", content: [{ type: "input_text", text: "ok" }] };

/** A listener that takes nothing until it is let. */
function slow() {
  const taken: LiveOutput[] = [];
  const held: (() => void)[] = [];
  let isOpen = false;
  let tellStarted = () => {};
  const started = new Promise<void>((resolve) => {
    tellStarted = resolve;
  });
  return {
    taken,
    started,
    get text() {
      return Buffer.concat(taken.map(({ bytes }) => bytes)).toString();
    },
    listener(output: LiveOutput): Promise<void> | undefined {
      taken.push(output);
      tellStarted();
      if (isOpen) return undefined;
      return new Promise((resolve) => held.push(resolve));
    },
    open() {
      isOpen = true;
      for (const letGo of held.splice(0)) letGo();
    },
  };
}

const forever = () => new Promise<void>(() => {});

describe("a listener that is slow", () => {
  it("keeps no other call waiting", async () => {
    const { call } = await peered();
    const stuck = await call(forever);
    const other = await call(() => {});
    await stuck.say("never taken");
    await other.answer();
    expect(await other.result).toMatchObject({ status: "success", text: "ok" });
  });

  it("gets everything in order, and its call is answered after that", async () => {
    const reader = slow();
    const { call, peer } = await peered();
    const { result, say, answer } = await call((output) => reader.listener(output));
    let isAnswered = false;
    void result.then(() => {
      isAnswered = true;
    });
    for (const word of ["one ", "two ", "three "]) await say(word);
    await say("four", "stderr");
    await answer();
    await reader.started;
    // Another call has come and gone: all of this was read.
    const other = await call(() => {});
    await other.answer();
    await other.result;
    expect(isAnswered).toBe(false);
    expect(reader.text).toBe("one ");
    reader.open();
    expect((await result).status).toBe("success");
    expect(reader.text).toBe("one two three four");
    await peer.close();
  });

  it("gets small pieces that waited as one, which is numbered as the last of them", async () => {
    const reader = slow();
    const { call } = await peered();
    const { result, say, answer } = await call((output) => reader.listener(output));
    for (const word of ["a", "b", "c", "d"]) await say(word);
    await say("e", "stderr");
    await say("f".repeat(4000), "stderr");
    await answer();
    await reader.started;
    const other = await call(() => {});
    await other.answer();
    await other.result;
    reader.open();
    await result;
    expect(reader.taken.map(({ stream, offset, seq, bytes }) => [stream, offset, seq, bytes.length])).toEqual([
      ["stdout", 0, 1, 1],
      ["stdout", 1, 4, 3],
      ["stderr", 4, 5, 1],
      ["stderr", 5, 6, 4000],
    ]);
  });

  it("is acknowledged for what it took, and not before", async () => {
    const reader = slow();
    const { call, peer } = await peered();
    const { result, say, answer, requestId } = await call((output) => reader.listener(output));
    await say("0123456789");
    await say("0123456789");
    await reader.started;
    // The next message is a call, not an acknowledgement.
    const other = await call(() => {});
    await other.answer();
    await other.result;
    reader.open();
    const acknowledged: number[] = [];
    while (acknowledged.at(-1) !== 20) {
      const { output = [] } = await peer.expect("ack");
      for (const { processId, offset } of output) {
        expect(processId).toBe(9);
        acknowledged.push(offset);
      }
    }
    await answer();
    await result;
    expect(requestId).not.toBe(other.requestId);
  });

  it("holds the whole executor back at the bound, and loses nothing", async () => {
    const reader = slow();
    const { call } = await peered(withDefaults({ limits: { queuedOutputBytes: 20_000 } }));
    const { result, say, answer } = await call((output) => reader.listener(output));
    const other = await call(() => {});
    const piece = "x".repeat(5000);
    for (let count = 0; count < 4; count++) await say(piece);
    await reader.started;
    let isOtherAnswered = false;
    void other.result.then(() => {
      isOtherAnswered = true;
    });
    const sent = Promise.all([other.answer(), say(piece), answer()]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOtherAnswered).toBe(false);
    reader.open();
    await sent;
    expect((await other.result).status).toBe("success");
    expect((await result).status).toBe("success");
    expect(reader.text).toBe(piece.repeat(5));
  });

  it("and others together have a bound", async () => {
    const limits = { queuedOutputBytes: 100_000, queuedOutputBytesInAll: 20_000 };
    const { call } = await peered(withDefaults({ limits }));
    const readers = [slow(), slow()];
    const calls = [];
    for (const reader of readers) calls.push(await call((output) => reader.listener(output)));
    for (const [index, { say }] of calls.entries()) {
      for (let count = 0; count < 2; count++) await say("x".repeat(5000), "stdout", 9 + index);
    }
    const other = await call(() => {});
    let isAnswered = false;
    void other.result.then(() => {
      isAnswered = true;
    });
    await other.answer();
    await new Promise((resolve) => setImmediate(resolve));
    expect(isAnswered).toBe(false);
    readers[0]?.open();
    expect((await other.result).status).toBe("success");
    readers[1]?.open();
    for (const { answer, result } of calls) {
      await answer();
      expect((await result).status).toBe("success");
    }
    expect(readers.map(({ text }) => text.length)).toEqual([10_000, 10_000]);
  });

  it("does not use up the time of an executor that it holds back", async () => {
    const reader = slow();
    const { call, clock } = await peered();
    const { result, say, answer } = await call((output) => reader.listener(output));
    await say("held");
    await reader.started;
    clock.advance(1_000_000);
    const other = await call(() => {});
    await other.answer();
    await other.result;
    reader.open();
    await clock.timer(40_000);
    await answer();
    expect((await result).status).toBe("success");
  });

  it("does not keep a call that is interrupted, and what was answered stays the answer", async () => {
    const { call, clock, peer } = await peered();
    const interrupt = new AbortController();
    const { result, say, answer } = await call(forever, interrupt.signal);
    await say("never taken");
    await answer();
    const other = await call(() => {});
    await other.answer();
    await other.result;
    interrupt.abort();
    await peer.expect("cancel_tool");
    clock.advance(5_000);
    expect(await result).toMatchObject({ status: "interrupted", text: "ok" });
  });

  it("of a call that is interrupted keeps no output of the next call waiting", async () => {
    const { call, clock, peer } = await peered();
    const interrupt = new AbortController();
    let count = 0;
    // The first is taken; then it is stuck with more behind.
    const { result, say } = await call(() => (count++ === 0 ? Promise.resolve() : forever()), interrupt.signal);
    await say("0");
    for (let piece = 0; piece < 5; piece++) await say("x".repeat(4000));
    const other = await call(() => {});
    await other.answer();
    await other.result;
    interrupt.abort();
    const acknowledged: number[] = [];
    clock.advance(5_000);
    expect((await result).status).toBe("lost");
    for (let message = await peer.next(); ; message = await peer.next()) {
      if (message.type === "ack") acknowledged.push(...(message.output ?? []).map(({ offset }) => offset));
      if (acknowledged.at(-1) === 20_001) break;
    }
  });

  it("keeps nobody from closing the orchestrator", async () => {
    const { call, orchestrator } = await peered();
    const { result, say, answer } = await call(forever);
    await say("never taken");
    await answer();
    const other = await call(forever);
    await other.say("never taken", "stdout", 10);
    await orchestrator.close();
    expect((await result).status).toBe("success");
    expect((await other.result).status).toBe("lost");
  });

  it("of a call whose executor ended gets what was received", async () => {
    const reader = slow();
    const { call, peer } = await peered();
    const { result, say } = await call((output) => reader.listener(output));
    await say("one ");
    await say("two");
    await peer.close();
    await reader.started;
    reader.open();
    expect((await result).status).toBe("lost");
    expect(reader.text).toBe("one two");
  });
});
