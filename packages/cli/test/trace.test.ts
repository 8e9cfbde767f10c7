import { createMemoryChannelPair } from "@codex/channel";
import { createExecutor } from "@codex/executor";
import { createOrchestrator } from "@codex/orchestrator";
import { createLocalBackend } from "@codex/process-host";
import { createRegistry, type LogFields, renderMetrics } from "@codex/telemetry";
import { createTestTracing } from "@codex/testkit";
import { expect, it } from "vitest";
import { parseExposition } from "../../telemetry/test/support/exposition-parser.js";

const SECRET = "s3cret-value";

it("a call is one trace from the model's words to the life of the process, and nothing tells what it was given", async () => {
  const { tracing, spans } = createTestTracing();
  const metrics = createRegistry();
  const lines: { event: string; fields: LogFields | undefined }[] = [];
  const write = (event: string, fields?: LogFields) => void lines.push({ event, fields });
  const log = { error: write, warn: write, info: write, debug: write };
  const telemetry = { tracing, metrics, log };
  const executor = createExecutor({ backend: () => createLocalBackend({ telemetry }), telemetry });
  const orchestrator = createOrchestrator({
    policy: { approvalPolicy: "never", sandbox: "danger-full-access" },
    telemetry,
  });
  const [ours, its] = createMemoryChannelPair();
  const served = executor.serve(its);
  await orchestrator.attach({ name: "here", channel: ours });
  const result = await orchestrator.callTool("exec_command", { cmd: `echo ${SECRET}; exit 3`, login: false });
  expect(result.text).toContain(SECRET);
  const refused = await orchestrator.callTool("write_stdin", { session_id: 4711, chars: SECRET });
  expect(refused.isError).toBe(true);
  const during = parseExposition(renderMetrics(metrics));
  await orchestrator.close();
  await executor.close();
  await served;

  const root = spans().find(({ name }) => name === "execute_tool exec_command");
  const below = (id: string | undefined) => spans().find(({ parent }) => parent !== undefined && parent === id);
  const sent = below(root?.id);
  const taken = below(sent?.id);
  const life = below(taken?.id);
  expect([root, sent, taken, life].map((span) => [span?.name, span?.kind, span?.traceId])).toEqual([
    ["execute_tool exec_command", "internal", root?.traceId],
    ["call_tool", "client", root?.traceId],
    ["call_tool", "server", root?.traceId],
    [life?.name, "client", root?.traceId],
  ]);
  expect(life?.attributes).toMatchObject({ "process.exit.code": 3, "error.type": "3" });
  expect(lines.map(({ event }) => event)).toEqual(
    expect.arrayContaining([
      "orchestrator connected",
      "session started",
      "process ended",
      "call answered",
      "tool call",
    ]),
  );
  const started = lines.find(({ event }) => event === "session started")?.fields;
  const received = lines.find(({ event }) => event === "call received")?.fields;
  expect(started).toMatchObject({ requestId: received?.requestId, sessionId: expect.any(Number) as number });
  expect(JSON.stringify([lines, spans()])).not.toContain(SECRET);

  const read = (name: string, labels: Record<string, string> = {}) =>
    during.get(name)?.samples.find((sample) => JSON.stringify(sample.labels) === JSON.stringify(labels))?.value;
  expect(read("codex_executor_calls_total", { tool: "exec_command", status: "success" })).toBe(1);
  expect(read("codex_executor_calls_in_flight")).toBe(0);
  expect(read("codex_executor_connections_live")).toBe(1);
  expect(read("codex_executor_sessions_live")).toBe(0);
  expect(read("codex_orchestrator_calls_total", { status: "success" })).toBe(1);
  expect(read("codex_orchestrator_calls_total", { status: "error" })).toBe(1);
  expect(read("codex_processes_ended_total", { outcome: "exited" })).toBe(1);
});
