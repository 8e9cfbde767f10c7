import type { Channel } from "@codex/channel";
import type { ApprovalRequest } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { scriptedTools } from "./programs/scripted-executor.mjs";
import { RawPeer, scriptedChannel } from "./support/executors.js";
import { attached, stage } from "./support/orchestrators.js";

/** Somebody who is asked and never answers. */
function undecided() {
  const asked: { request: ApprovalRequest; signal: AbortSignal }[] = [];
  let tell = () => {};
  const wasAsked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const approver = {
    requestApproval(request: ApprovalRequest, { signal }: { signal: AbortSignal }) {
      asked.push({ request, signal });
      tell();
      return new Promise<never>(() => {});
    },
  };
  return { asked, wasAsked, approver };
}

const never = () => new Promise<never>(() => {});

describe("close", () => {
  it("withdraws open questions, and their commands do not run", async () => {
    const { channel, executor } = scriptedChannel();
    const { asked, wasAsked, approver } = undecided();
    const { orchestrator } = await attached(channel, { policy: "untrusted", approver });
    const result = orchestrator.callTool("exec_command", { cmd: "touch x" });
    await wasAsked;
    await orchestrator.close();
    expect(await result).toMatchObject({
      status: "interrupted",
      text: "Interrupted: the orchestrator was closed before anything was sent. Nothing was run.",
      structured: { code: "closed" },
    });
    expect(asked.map(({ signal }) => signal.aborted)).toEqual([true]);
    expect(executor.received.map(({ type }) => type)).not.toContain("call_tool");
  });

  it("settles calls that were sent, and calls that wait for executors", async () => {
    const peer = new RawPeer();
    const { orchestrator } = stage({ executors: [{ name: "slow", channel: never() }] });
    const waiting = orchestrator.callTool("exec_command", { cmd: "x" });
    const [other] = await Promise.all([attached(peer.channel), peer.introduce(scriptedTools)]);
    const sent = other.orchestrator.callTool("exec_command", { cmd: "x" });
    await peer.expect("call_tool");
    await Promise.all([orchestrator.close(), other.orchestrator.close()]);
    expect(await waiting).toMatchObject({ status: "interrupted", structured: { code: "closed" } });
    expect(await sent).toMatchObject({ status: "lost", text: expect.stringMatching(/it was detached.*is unknown/) });
  });

  it("gives up what is being attached, in whatever it waits for", async () => {
    const silent = new RawPeer();
    const signals: AbortSignal[] = [];
    const reconnect = (signal: AbortSignal) => {
      signals.push(signal);
      return never();
    };
    const { orchestrator } = stage();
    const attaching = [
      orchestrator.attach({ name: "no-channel", channel: never() }),
      orchestrator.attach({ name: "no-connection", reconnect }),
      orchestrator.attach({ name: "no-introduction", channel: silent.channel }),
    ];
    await silent.expect("initialize");
    const settled = Promise.allSettled(attaching);
    await orchestrator.close();
    expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
    expect(await silent.channel.closed).toEqual({ kind: "closed" });
  });
});

it("the executor is told to shut down, and its answer is not waited for", async () => {
  const peer = new RawPeer();
  const { orchestrator } = stage();
  const attaching = orchestrator.attach({ name: "main", channel: peer.channel });
  await peer.introduce(scriptedTools);
  await attaching;
  // No time passes on the clock of this orchestrator: a deadline would never come.
  await orchestrator.close();
  await peer.expect("shutdown");
});

describe("executors of the options", () => {
  it("are attached at once, and keep their order whatever comes first", async () => {
    const peers = [new RawPeer(), new RawPeer(), new RawPeer()];
    const names = ["a", "b", "c"];
    const executors = peers.map(({ channel }, index) => ({
      name: names[index] ?? "",
      channel,
      shutdownOnClose: false,
    }));
    const { orchestrator } = stage({ executors });
    // Each is asked while none has answered.
    const asked = await Promise.all(peers.map((peer) => peer.expect("initialize")));
    expect(asked).toHaveLength(3);
    for (const [index, peer] of [...peers.entries()].reverse()) {
      await peer.say({ type: "error", requestId: asked[index]?.requestId, message: "unknown" });
      const { requestId } = await peer.expect("list_tools");
      await peer.say({ type: "list_tools_response", requestId, tools: scriptedTools });
    }
    await orchestrator.ready;
    expect(orchestrator.executors.map(({ name }) => name)).toEqual(names);
  });

  it("leave no place behind where attaching failed", async () => {
    const good = scriptedChannel();
    const { orchestrator } = stage({
      executors: [
        { name: "bad", channel: Promise.reject(new Error("no route")) },
        { name: "good", channel: good.channel },
      ],
    });
    await expect(orchestrator.ready).rejects.toThrow(/executor `bad`: no route/);
    expect(orchestrator.executors.map(({ name }) => name)).toEqual(["good"]);
    await orchestrator.attach({ name: "bad", channel: scriptedChannel().channel });
    expect(orchestrator.executors.map(({ name }) => name)).toEqual(["good", "bad"]);
  });

  it("keep no call waiting that is interrupted", async () => {
    const { orchestrator } = stage({ executors: [{ name: "slow", channel: never() }] });
    const interrupt = new AbortController();
    const result = orchestrator.callTool("exec_command", { cmd: "x" }, { signal: interrupt.signal });
    interrupt.abort();
    expect(await result).toMatchObject({ status: "interrupted", text: expect.stringMatching(/Nothing was run/) });
  });

  it("can be given up one by one", async () => {
    const { orchestrator } = stage();
    const giveUp = new AbortController();
    const late = new RawPeer();
    let arrive!: (channel: Channel) => void;
    const channel = new Promise<Channel>((resolve) => {
      arrive = resolve;
    });
    const attaching = orchestrator.attach({ name: "a", channel, signal: giveUp.signal });
    giveUp.abort();
    await expect(attaching).rejects.toMatchObject({ message: "attaching executor `a` was cancelled" });
    arrive(late.channel);
    expect(await late.channel.closed).toEqual({ kind: "closed" });
  });
});
