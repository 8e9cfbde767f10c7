import { createLocalOrchestrator } from "@codex/local";
import type { OrchestratorEvent, OrchestratorOptions } from "@codex/orchestrator";
import { expect, it, onTestFinished } from "vitest";

type AuditLog = NonNullable<OrchestratorOptions["audit"]>["log"];
type AuditEvent = Parameters<AuditLog["record"]>[0];

async function open(log?: AuditEvent[]) {
  const audit = log === undefined ? {} : { audit: { log: collect(log) } };
  const orchestrator = await createLocalOrchestrator({
    policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
    defaults: { login: false, shell: "sh" },
    ...audit,
  });
  onTestFinished(() => orchestrator.close());
  const events: OrchestratorEvent[] = [];
  orchestrator.observe((event) => void events.push(event));
  return { orchestrator, events };
}

const collect = (events: AuditEvent[]): AuditLog => ({
  record: async (event) => void events.push(event),
  flush: async () => {},
});

it("reports a call from its beginning to its result, with the output", async () => {
  const { orchestrator, events } = await open();
  await orchestrator.callTool("exec_command", { cmd: "echo hello" });
  expect(events.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1])).toEqual([
    "call_started",
    "call_decided",
    "call_started",
    "output",
    "call_ended",
  ]);
  expect(events[0]).toMatchObject({ tool: "exec_command", environment: "local", tty: false, cwd: expect.any(String) });
  const output = events.flatMap((event) => (event.type === "output" ? [event.output.bytes.toString()] : []));
  expect(output.join("")).toBe("hello\n");
  expect(events.at(-1)).toMatchObject({ result: { status: "success", structured: { exitCode: 0 } } });
});

it("neither reports nor records what is read for display, and still records everything else", async () => {
  const recorded: AuditEvent[] = [];
  const { orchestrator, events } = await open(recorded);
  await orchestrator.callTool("list_sessions", {}, { forDisplay: true });
  expect(events).toEqual([]);
  await orchestrator.callTool("exec_command", { cmd: "true" }, { forDisplay: true });
  expect(events.map(({ type }) => type)).toContain("call_ended");
  await orchestrator.close();
  const tools = recorded.flatMap((event) => (event.type === "call" ? [event.tool] : []));
  expect(tools).toEqual(["exec_command"]);
});

it("writes beside a call that waits, and leaves the output to it", async () => {
  const { orchestrator } = await open();
  const started = await orchestrator.callTool("exec_command", { cmd: "cat", stdin: "open", yield_time_ms: 250 });
  if (started.isError || started.structured?.processId === undefined) throw new Error(started.text);
  const session = { session_id: started.structured.processId };
  const waiting = orchestrator.callTool("write_stdin", { ...session, until: "output", yield_time_ms: 20_000 });
  const typed = await orchestrator.callTool("write_stdin", { ...session, chars: "typed\n" }, { concurrent: true });
  expect(typed.isError).toBe(false);
  expect(typed.text).not.toMatch(/\ntyped\n/);
  expect((await waiting).text).toMatch(/\ntyped\n$/);
  await orchestrator.callTool("kill_session", session);
});
