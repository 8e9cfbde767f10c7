// Two executors whose sessions have the same ids: what a model reads and a program gets names each session once.
import { createMemoryChannelPair } from "@codex/channel";
import { createCountingIds, createExecutor } from "@codex/executor";
import { createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";
import { describe, expect, it, onTestFinished } from "vitest";

async function open() {
  const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
  onTestFinished(() => orchestrator.close());
  for (const name of ["a", "b"]) {
    const executor = createExecutor({ backend: () => createLocalBackend(), ids: createCountingIds() });
    onTestFinished(() => executor.close());
    const [ours, its] = createMemoryChannelPair();
    executor.serve(its);
    await orchestrator.attach({ name, channel: ours });
  }
  const start = async (environment_id: string, args: Record<string, unknown>) => {
    const result = await orchestrator.callTool("exec_command", { environment_id, login: false, ...args });
    return result;
  };
  // Session 1000 of `a`, and of `b`.
  for (const name of ["a", "b"]) await start(name, { cmd: "cat", tty: true, yield_time_ms: 250 });
  return { orchestrator, start };
}

describe("sessions of two executors with the same ids", () => {
  it("have ids of their own in results, errors and lists", async () => {
    const { orchestrator } = await open();
    const polled = await orchestrator.callTool("write_stdin", { session_id: 1001, chars: "hi\n", yield_time_ms: 250 });
    expect(polled.text).toContain("Process running with session ID 1001\n");
    expect(polled).toMatchObject({ structured: { processId: 1001 }, output: expect.stringContaining("hi") });
    const screen = await orchestrator.callTool("read_screen", { session_id: 1001 });
    expect(screen.text).toContain("Session 1001: 24 rows");
    const list = await orchestrator.callTool("list_sessions", { environment_id: "b" });
    expect(list).toMatchObject({
      text: expect.stringContaining("session 1001: running"),
      structured: { sessions: [{ sessionId: 1001 }] },
    });
    const killed = await orchestrator.callTool("kill_session", { session_id: 1001 });
    expect(killed).toMatchObject({ text: expect.stringContaining("Session 1001: was running") });
    await orchestrator.callTool("write_stdin", { session_id: 1001 });
    const gone = await orchestrator.callTool("write_stdin", { session_id: 1001 });
    expect(gone).toMatchObject({ isError: true, text: expect.stringMatching(/unknown session 1001; it has ended/) });
  });

  it("are named in what was left out, under an id that reads it", async () => {
    const { orchestrator, start } = await open();
    const cut = await start("b", { cmd: "seq 100000", max_output_tokens: 100 });
    const [, id, from] = /read_output with session_id (\d+) and from (\d+) reads/.exec(cut.text) ?? [];
    expect(id).not.toBe("1001");
    const rest = await orchestrator.callTool("read_output", { session_id: Number(id), from: Number(from) });
    expect(rest.text).toContain(`Session ${id}: bytes ${from}-`);
    expect(rest.isError).toBe(false);
  });
});
