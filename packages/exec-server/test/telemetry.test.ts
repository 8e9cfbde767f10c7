import { createMemoryChannelPair } from "@codex/channel";
import type { ProcessSpec } from "@codex/exec-backend";
import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import { createLocalBackend } from "@codex/process-host";
import { createRegistry, type LogFields, type Registry, type Telemetry } from "@codex/telemetry";
import { createTestTracing } from "@codex/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { createEnvironmentInfo, createExecServer } from "../src/index.js";

const SECRET = "s3cret-value";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function createRecorder() {
  const lines: { level: string; event: string; fields: LogFields | undefined }[] = [];
  const write = (level: string) => (event: string, fields?: LogFields) => void lines.push({ level, event, fields });
  const log = { error: write("error"), warn: write("warn"), info: write("info"), debug: write("debug") };
  return { lines, log, events: () => lines.map(({ event }) => event) };
}

const readMetric = (metrics: Registry, name: string, labels: Record<string, string> = {}) => {
  const family = metrics.list().find((one) => one.name === name);
  const metric = family?.metrics.find((one) => JSON.stringify(one.labels) === JSON.stringify(labels));
  return metric === undefined || metric.type === "histogram" ? undefined : metric.read();
};

const spec = (argv: string[], more: Partial<ProcessSpec> = {}): ProcessSpec => ({
  argv,
  cwd: "/",
  env: { PATH: process.env.PATH ?? "/usr/bin:/bin", TOKEN: SECRET },
  stdio: { kind: "pipe", stdin: "null" },
  ...more,
});

function openBackend(telemetry: Telemetry) {
  const backend = createLocalBackend({ telemetry });
  closers.push(() => backend.close());
  return backend;
}

describe("processes of a host", () => {
  it.each([
    [["sh", "-c", "printf 12345; exit 3"], { outcome: "exited" }, 5, { outcome: "exited", code: 3, bytes: 5 }],
    [["sh", "-c", "kill -9 $$"], { outcome: "signaled" }, 0, { outcome: "signaled", signal: "SIGKILL" }],
  ])("%j is counted, and logged by its name alone", async (argv, labels, bytes, told) => {
    const metrics = createRegistry();
    const { lines, log } = createRecorder();
    const started = await openBackend({ metrics, log }).start(spec([...argv, SECRET]));
    await started.closed;
    expect(readMetric(metrics, "codex_processes_started_total", { stdio: "pipe" })).toBe(1);
    expect(readMetric(metrics, "codex_processes_ended_total", labels)).toBe(1);
    expect(readMetric(metrics, "codex_processes_live")).toBe(0);
    expect(readMetric(metrics, "codex_output_bytes_total")).toBe(bytes);
    expect(lines).toMatchObject([
      { event: "process started", fields: { pid: started.pid, program: "sh", stdio: "pipe" } },
      { event: "process ended", fields: { pid: started.pid, ...told } },
    ]);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  it("one that is not there is counted, and its directory not told", async () => {
    const metrics = createRegistry();
    const { lines, log } = createRecorder();
    await expect(openBackend({ metrics, log }).start(spec([`/${SECRET}/none`]))).rejects.toThrow();
    expect(readMetric(metrics, "codex_processes_ended_total", { outcome: "failed_to_start" })).toBe(1);
    expect(readMetric(metrics, "codex_processes_live")).toBe(0);
    expect(lines).toMatchObject([{ level: "info", event: "process not started", fields: { program: "none" } }]);
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });

  it("bytes that were not kept are counted", async () => {
    const metrics = createRegistry();
    const log = { headBytes: 10, tailBytes: 10, spillBytes: 0 };
    // More than a pipe holds, so that it comes in several chunks.
    const started = await openBackend({ metrics }).start(spec(["head", "-c", "300000", "/dev/zero"], { log }));
    await started.closed;
    const [gone] = started.log.getEvicted(0);
    expect(readMetric(metrics, "codex_output_dropped_bytes_total")).toBe((gone?.to ?? 0) - (gone?.from ?? 0));
    expect(readMetric(metrics, "codex_output_dropped_bytes_total")).toBeGreaterThan(0);
  });

  it("a life is a span below what started it, without its arguments", async () => {
    const { tracing, spans } = createTestTracing();
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
    const started = await openBackend({ tracing }).start(spec(["sh", "-c", `exit 3; ${SECRET}`], { trace }));
    await started.closed;
    expect(spans()).toEqual([
      {
        name: "sh",
        kind: "client",
        parent: "b7ad6b7169203331",
        traceId: "0af7651916cd43dd8448eb211c80319c",
        id: expect.any(String) as string,
        attributes: {
          "process.executable.name": "sh",
          "process.interactive": false,
          "process.pid": started.pid,
          "codex.process.outcome": "exited",
          "process.exit.code": 3,
          "error.type": "3",
        },
      },
    ]);
  });
});

async function openServer(telemetry: Telemetry) {
  const backend = openBackend(telemetry);
  const info = await createEnvironmentInfo({ executorVersion: "0.169.0" });
  const server = createExecServer({ backend, environment: { info }, telemetry });
  closers.push(() => server.close());
  const [ours, theirs] = createMemoryChannelPair();
  void server.serve(theirs, { transport: { kind: "websocket", peer: "memory" } });
  const client = await ExecServerClient.connectInProcess(ours);
  closers.push(() => client.close());
  return client;
}

describe("an exec-server", () => {
  it("counts connections, sessions and requests, and logs them without what they carry", async () => {
    const metrics = createRegistry();
    const { lines, log, events } = createRecorder();
    const client = await openServer({ metrics, log });
    const remote = createRemoteBackend(client);
    closers.push(() => remote.close());
    await (await remote.start(spec(["cat", "/dev/null"]))).closed;
    await expect(client.call("process/resize", { processId: SECRET, size: { rows: 1, cols: 1 } })).rejects.toThrow();
    expect(readMetric(metrics, "codex_exec_server_connections_live")).toBe(1);
    expect(readMetric(metrics, "codex_exec_server_sessions_live")).toBe(1);
    expect(readMetric(metrics, "codex_exec_server_requests_total", { method: "process/start", status: "ok" })).toBe(1);
    expect(readMetric(metrics, "codex_exec_server_requests_total", { method: "process/resize", status: "error" })).toBe(
      1,
    );
    expect(readMetric(metrics, "codex_exec_server_requests_in_flight")).toBe(0);
    expect(events()).toEqual(
      expect.arrayContaining(["connection opened", "session attached", "process started", "request answered"]),
    );
    expect(JSON.stringify(lines)).not.toContain(SECRET);
    expect(JSON.stringify(lines)).not.toContain(client.sessionId);
  });

  it("carries a trace from the client's call to the life of the process", async () => {
    const { tracing, spans } = createTestTracing();
    const client = await openServer({ tracing });
    const remote = createRemoteBackend(client, { telemetry: { tracing } });
    closers.push(() => remote.close());
    const trace = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
    await (await remote.start(spec(["true"], { trace }))).closed;
    const chain = spans().filter(({ traceId }) => traceId === "0af7651916cd43dd8448eb211c80319c");
    const byParent = (parent: string | undefined) => chain.find((span) => span.parent === parent);
    const call = byParent("b7ad6b7169203331");
    const request = byParent(call?.id);
    const life = byParent(request?.id);
    expect([call, request, life].map((span) => [span?.name, span?.kind])).toEqual([
      ["process/start", "client"],
      ["process/start", "server"],
      ["true", "client"],
    ]);
    expect(request?.attributes).toMatchObject({ "rpc.system.name": "jsonrpc", "rpc.method": "process/start" });
  });
});
