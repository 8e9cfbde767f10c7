import { createOrchestrator } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { sessionOf, useStages } from "./support.js";

const FAST = { reconnectBaseMs: 1, reconnectMaxMs: 5 };

describe("while an executor is away", () => {
  const open = useStages();

  it("calls wait for it, and are made once it is back", async () => {
    const { orchestrator, relay, gate, until, effects, events } = await open();
    gate.closed = true;
    relay.cutNow();
    const calls = [1, 2, 3].map(() => orchestrator.callTool("count", {}));
    await until(() => gate.attempts >= 4);
    expect(orchestrator.executors[0]).toMatchObject({
      offlineReason: undefined,
      reconnectingReason: expect.stringMatching(/closed the channel/),
    });
    expect(effects.list()).toEqual([]);
    gate.closed = false;
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(["success", "success", "success"]);
    expect(effects.list()).toEqual(["tool", "tool", "tool"]);
    expect(events).toEqual(["offline", "online"]);
    expect(orchestrator.executors[0]).toMatchObject({ reconnectingReason: undefined });
  });

  it("a call whose time is over says what is known: running when last seen, its output so far, and why it is not known", async () => {
    const timings = { ...FAST, answerMarginMs: 50 };
    const { orchestrator, relay, gate } = await open({}, { defaults: { timings, windows: { pollMinMs: 0 } } });
    const started = await orchestrator.callTool("exec_command", {
      cmd: "echo ready; exec cat",
      stdin: "open",
      until: "output",
    });
    const session_id = sessionOf(started);
    relay.cutAt({ direction: "sent", message: relay.counts.sent + 1, delivered: false });
    gate.closed = true;
    const late = await orchestrator.callTool("write_stdin", { session_id, chars: "typed\n", yield_time_ms: 250 });
    expect(late).toMatchObject({
      status: "lost",
      structured: { outcome: { kind: "lost" }, sessionId: session_id, lastOffset: 6 },
    });
    expect(late.text).toMatch(
      /did not answer within 300 ms; its channel was lost \(.*\) and is being reconnected.*still be running.*was running when it was last seen, with 6 bytes of output/s,
    );
    gate.closed = false;
    // The session is no worse for it; what the call was to do was never done, as it never arrived.
    const next = await orchestrator.callTool("write_stdin", {
      session_id,
      chars: "again\n",
      until: "output",
      yield_time_ms: 5_000,
    });
    expect(next).toMatchObject({ status: "success", structured: { outcome: { kind: "running" } } });
    expect(next.text).toMatch(/Output:\nagain\n$/);
  });

  it("an answer that nobody waited for any more is covered by the next", async () => {
    const timings = { ...FAST, answerMarginMs: 500 };
    const { orchestrator, relay, gate } = await open({}, { defaults: { timings, windows: { pollMinMs: 0 } } });
    const cmd = "echo ready; read x; echo told; exec cat";
    const started = await orchestrator.callTool("exec_command", { cmd, stdin: "open", until: "output" });
    const session_id = sessionOf(started);
    const { sent } = relay.counts;
    relay.cutAt({ direction: "sent", message: sent + 1, delivered: true });
    gate.closed = true;
    const lost = await orchestrator.callTool("write_stdin", { session_id, chars: "go\n", yield_time_ms: 250 });
    expect(lost.status).toBe("lost");
    gate.closed = false;
    const next = await orchestrator.callTool("write_stdin", { session_id, chars: "on\n", yield_time_ms: 2_000 });
    expect(next.text).toMatch(/Output:\ntold\non\n$/);
  });

  it("its grace may end: then its sessions are lost, and calls say why", async () => {
    const { orchestrator, relay, gate, until, events, logs } = await open({ resumeGraceMs: 60 });
    const started = await orchestrator.callTool("exec_command", {
      cmd: "echo ready; exec cat",
      stdin: "open",
      until: "output",
    });
    gate.closed = true;
    relay.cutNow();
    const result = await orchestrator.callTool("write_stdin", { session_id: sessionOf(started), chars: "x\n" });
    expect(result.status).not.toBe("success");
    expect(result.text).toMatch(/was not reached again within 60 ms: no route/);
    expect(events).toEqual(["offline", "gone"]);
    await until(() => logs.length > 0);
    expect(logs[0]?.fields).toMatchObject({ cause: "it was not resumed within 60 ms", gone: true });
    const after = await orchestrator.callTool("write_stdin", { session_id: sessionOf(started) });
    expect(after).toMatchObject({ status: "lost", structured: { outcome: { kind: "lost" } } });
  });

  it("closing the orchestrator stops reconnecting at once", async () => {
    const { orchestrator, relay, gate, until } = await open();
    gate.closed = true;
    relay.cutNow();
    await until(() => gate.attempts >= 3);
    const call = orchestrator.callTool("count", {});
    await orchestrator.close();
    expect((await call).status).toBe("error");
    const { attempts } = gate;
    // In the same time another one makes many attempts.
    const other = await open();
    other.gate.closed = true;
    other.relay.cutNow();
    await other.until(() => other.gate.attempts >= 10);
    expect(gate.attempts).toBe(attempts);
  });

  it("another orchestrator can come back for its sessions by their id", async () => {
    const { orchestrator, relay, events } = await open();
    const started = await orchestrator.callTool("exec_command", {
      cmd: "echo ready; exec cat",
      stdin: "open",
      until: "output",
    });
    await orchestrator.callTool("count", {});
    const resumeSessionId = orchestrator.executors[0]!.sessionId!;
    const heir = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
    await heir.attach({ name: "main", channel: relay.connect(), initialize: { resumeSessionId } });
    const write = await heir.callTool("write_stdin", {
      session_id: sessionOf(started),
      chars: "heir\n",
      until: "output",
    });
    expect(write.text).toMatch(/Output:\nheir\n$/);
    await heir.close();
    // It is not taken back.
    expect(events).toEqual(["gone"]);
    expect(orchestrator.executors[0]?.offlineReason).toBe("the connection was resumed over another channel");
  });
});
