import type { OrchestratorMessage, ToolCallOutcome } from "@codex/executor-protocol";
import {
  type Counter,
  createRegistry,
  type Gauge,
  type Logger,
  type Registry,
  type Telemetry,
  type TraceContext,
} from "@codex/telemetry";
import { quote } from "@codex/values";

type CallMessage = Extract<OrchestratorMessage, { type: "call_tool" }>;

/** Logs, metrics and spans of an executor. Never arguments or results of a tool. */
export interface ExecutorTelemetry {
  readonly log: Logger;
  /** Orchestrators with a channel, or without one while they may come back. */
  readonly connections: Gauge;
  readonly accepted: Counter;
  readonly resumed: Counter;
  /** Connections that expired: ended because they were not resumed in time. */
  readonly expired: Counter;
  /** Commands that were refused before anything was started. */
  readonly refused: Counter;
  /** Sessions that were ended to make room. */
  readonly pruned: Counter;
  /** Messages that could not be read. */
  readonly unreadable: Counter;
  /** Reports that a call has arrived. */
  beginCall(message: CallMessage): CallWatch;
  /** Registers the gauge of running sessions; `count` is called when metrics are read. */
  observeSessions(count: () => number): void;
}

interface CallWatch {
  /** Parent of the spans of the call. */
  readonly trace: TraceContext | undefined;
  /** Reports the outcome. */
  end(outcome: ToolCallOutcome): void;
}

/** @param toolNames the tools whose calls are counted by name; calls of all others are counted as `other`. */
export function createExecutorTelemetry(
  { log = {}, metrics = createRegistry(), tracing }: Telemetry,
  toolNames: Iterable<string>,
): ExecutorTelemetry {
  const calls = createCallMetrics(metrics, toolNames);
  const counter = (name: string, help: string) => metrics.counter({ name: `codex_executor_${name}_total`, help });
  return {
    log,
    connections: metrics.gauge({
      name: "codex_executor_connections_live",
      help: "Orchestrators, including those that lost their channel and may resume.",
    }),
    accepted: counter("connections", "Orchestrators that have connected."),
    resumed: counter("connections_resumed", "Orchestrators that resumed over another channel."),
    expired: counter("connections_expired", "Orchestrators that did not resume in time."),
    refused: counter("refusals", "Commands that were refused before anything was started."),
    pruned: counter("sessions_pruned", "Sessions that were ended to make room for others."),
    unreadable: counter("unreadable_messages", "Messages that could not be read or were invalid."),
    beginCall(message) {
      const { requestId, toolName, trace } = message;
      const startedAt = performance.now();
      calls.inFlight.value += 1;
      log.debug?.("call received", { requestId, tool: quote(toolName) });
      const span = tracing?.startSpan("call_tool", {
        kind: "server",
        parent: trace,
        attributes: {
          "rpc.system.name": "codex_executor",
          "rpc.method": "call_tool",
          "gen_ai.tool.name": quote(toolName),
        },
      });
      return {
        trace: span?.context ?? trace,
        end(outcome) {
          const seconds = (performance.now() - startedAt) / 1000;
          calls.inFlight.value -= 1;
          calls.seconds.observe(seconds);
          calls.answered(toolName)[outcome.status].value += 1;
          const { status } = outcome;
          log.debug?.("call answered", { requestId, tool: quote(toolName), status, ms: Math.round(seconds * 1000) });
          if (status === "error") span?.fail("tool_error");
          span?.end();
        },
      };
    },
    observeSessions(count) {
      metrics.observe(
        "gauge",
        { name: "codex_executor_sessions_live", help: "Sessions with a running process." },
        count,
      );
    },
  };
}

function createCallMetrics(metrics: Registry, toolNames: Iterable<string>) {
  const answered = (tool: string, status: string) =>
    metrics.counter({
      name: "codex_executor_calls_total",
      help: "Completed calls, by tool; tools that are not built in are `other`.",
      labels: { tool, status },
    });
  const both = (tool: string) => ({ success: answered(tool, "success"), error: answered(tool, "error") });
  const byTool = new Map(Array.from(toolNames, (tool) => [tool, both(tool)]));
  const other = both("other");
  return {
    answered: (tool: string): Record<ToolCallOutcome["status"], Counter> => byTool.get(tool) ?? other,
    inFlight: metrics.gauge({ name: "codex_executor_calls_in_flight", help: "Calls in progress." }),
    seconds: metrics.histogram({
      name: "codex_executor_call_duration_seconds",
      help: "Time from a call to its outcome, its window included.",
    }),
  };
}
