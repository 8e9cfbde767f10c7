import type { HostActivity } from "@codex/executor-protocol";
import { type Counter, createRegistry, type Telemetry, type TraceContext } from "@codex/telemetry";
import type { ToolCallResult } from "../result.js";

/** Metrics, spans and logs of tool calls, without their arguments and results. */
export interface CallTelemetry {
  /** Begins a whole tool call. */
  begin(toolName: string): CallWatch;
  /** Begins the part of a call that an executor executes. */
  send(executor: string, parent: TraceContext | undefined): CallWatch;
  /** Counts what commands did about hosts. */
  countHosts(hosts: readonly HostActivity[]): void;
}

interface CallWatch {
  /** Parent of the spans that belong to it. */
  readonly trace: TraceContext | undefined;
  end(result: ToolCallResult): void;
}

export function createCallTelemetry({ log, metrics = createRegistry(), tracing }: Telemetry): CallTelemetry {
  const counters = new Map(STATUSES.map((status) => [status, countCalls(status)]));
  function countCalls(status: ToolCallResult["status"]): Counter {
    return metrics.counter({
      name: "codex_orchestrator_calls_total",
      help: "Tool calls, by status.",
      labels: { status },
    });
  }
  const seconds = metrics.histogram({
    name: "codex_orchestrator_call_duration_seconds",
    help: "Time of a call, approvals included.",
  });
  const hosts = Object.fromEntries(
    (["allow", "deny"] as const).map((decision) => [
      decision,
      metrics.counter({
        name: "codex_orchestrator_host_decisions_total",
        help: "Connections of commands with a managed network that were decided about.",
        labels: { decision },
      }),
    ]),
  ) as Record<HostActivity["decision"], Counter>;
  const bytes = Object.fromEntries(
    (["sent", "received"] as const).map((direction) => [
      direction,
      metrics.counter({
        name: "codex_orchestrator_host_bytes_total",
        help: "Bytes of connections of commands with a managed network, counted when they end.",
        labels: { direction },
      }),
    ]),
  ) as Record<"sent" | "received", Counter>;
  return {
    countHosts(activities) {
      for (const { decision, count, sent, received } of activities) {
        hosts[decision].value += count;
        bytes.sent.value += sent;
        bytes.received.value += received;
      }
    },
    begin(toolName) {
      const startedAt = performance.now();
      const tool = toolName.slice(0, MAX_TOOL_NAME_LENGTH);
      const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool };
      const span = tracing?.startSpan(`execute_tool ${tool}`, { kind: "internal", parent: "active", attributes });
      return {
        trace: span?.context,
        end({ status, isError }) {
          const took = (performance.now() - startedAt) / 1000;
          seconds.observe(took);
          const counter = counters.get(status);
          if (counter !== undefined) counter.value += 1;
          log?.debug?.("tool call", { tool, status, ms: Math.round(took * 1000) });
          if (isError) span?.fail(status);
          span?.end();
        },
      };
    },
    send(executor, parent) {
      const attributes = {
        "rpc.system.name": "codex_executor",
        "rpc.method": "call_tool",
        "codex.executor.name": executor,
      };
      const span =
        parent === undefined ? undefined : tracing?.startSpan("call_tool", { kind: "client", parent, attributes });
      return {
        trace: span?.context ?? parent,
        end({ status, isError }) {
          if (isError) span?.fail(status);
          span?.end();
        },
      };
    },
  };
}

const MAX_TOOL_NAME_LENGTH = 64;

const STATUSES = [
  "success",
  "interrupted",
  "error",
  "forbidden",
  "denied",
  "cancelled",
  "lost",
] as const satisfies readonly ToolCallResult["status"][];
