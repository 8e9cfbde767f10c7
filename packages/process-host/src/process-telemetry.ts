import type { ExecProcess, ProcessSpec } from "@codex/exec-backend";
import { getProgramName, StartError } from "@codex/exec-backend";
import type { LimitName, ProcessOutcome, ResourceUse } from "@codex/executor-protocol";
import {
  type Attributes,
  type Counter,
  createRegistry,
  type Gauge,
  type Registry,
  type Span,
  type Telemetry,
} from "@codex/telemetry";

/** Reports that processes of a backend were started and how they ended, but never their arguments, environment or output. */
export interface ProcessTelemetry {
  /** Grows with each byte of output. */
  readonly outputBytes: Counter;
  started(spec: ProcessSpec, process: ExecProcess): void;
  failed(spec: ProcessSpec, error: unknown): void;
  /** Reports what processes with limits use together, whenever metrics are read. Returns a function that stops it. */
  observeUse(read: () => ResourceUse): () => void;
}

export function createProcessTelemetry({ log, metrics = createRegistry(), tracing }: Telemetry): ProcessTelemetry {
  const counters = createProcessMetrics(metrics);
  const startSpan = (spec: ProcessSpec) =>
    tracing?.startSpan(programOf(spec), {
      kind: "client",
      parent: spec.trace,
      attributes: { "process.executable.name": programOf(spec), "process.interactive": spec.stdio.kind === "pty" },
    });
  const ended = (process: ExecProcess, outcome: ProcessOutcome, span: Span | undefined) => {
    counters.live.value -= 1;
    counters.ended[outcome.kind].value += 1;
    if (process.denial !== undefined) counters.denials.value += 1;
    for (const { name } of process.resources?.reached ?? []) counters.limits[name].value += 1;
    const ms = Math.round(performance.now() - process.startedAt);
    log?.info?.("process ended", { pid: process.pid, ...describeOutcome(outcome), ms, bytes: process.log.end });
    endSpan(span, outcome);
  };
  return {
    outputBytes: counters.outputBytes,
    observeUse(read) {
      const stops = USES.map(([name, unit, help]) => metrics.observe("gauge", { name, help }, () => read()[unit] ?? 0));
      return () => {
        for (const stop of stops) stop();
      };
    },
    started(spec, process) {
      counters.started[spec.stdio.kind].value += 1;
      counters.live.value += 1;
      log?.info?.("process started", { pid: process.pid, program: programOf(spec), stdio: spec.stdio.kind });
      const span = startSpan(spec);
      span?.set({ "process.pid": process.pid });
      void process.exited.then((outcome) => ended(process, outcome, span));
      void process.closed.then(() => {
        for (const { from, to } of process.log.getEvicted(0)) counters.droppedBytes.value += to - from;
      });
    },
    failed(spec, error) {
      const reason = error instanceof StartError ? error.code : "unknown";
      counters.ended.failed_to_start.value += 1;
      log?.info?.("process not started", { program: programOf(spec), reason });
      const span = startSpan(spec);
      span?.fail(reason);
      span?.end();
    },
  };
}

function createProcessMetrics(metrics: Registry) {
  const started = (stdio: string) =>
    metrics.counter({
      name: "codex_processes_started_total",
      help: "Processes that were started.",
      labels: { stdio },
    });
  const ended = (outcome: string) =>
    metrics.counter({
      name: "codex_processes_ended_total",
      help: "Processes that have ended or could not be started, by outcome.",
      labels: { outcome },
    });
  const reached = (limit: LimitName) =>
    metrics.counter({
      name: "codex_limits_reached_total",
      help: "Processes that have reached a limit, by limit.",
      labels: { limit },
    });
  return {
    started: { pty: started("pty"), pipe: started("pipe") },
    ended: {
      exited: ended("exited"),
      signaled: ended("signaled"),
      failed_to_start: ended("failed_to_start"),
      lost: ended("lost"),
      running: { value: 0 }, // never counted: not the outcome of an ended process
    } satisfies Record<ProcessOutcome["kind"], Counter>,
    live: metrics.gauge({ name: "codex_processes_live", help: "Running processes." }) satisfies Gauge,
    outputBytes: metrics.counter({ name: "codex_output_bytes_total", help: "Bytes that processes have written." }),
    droppedBytes: metrics.counter({
      name: "codex_output_dropped_bytes_total",
      help: "Bytes of closed outputs that left memory and disk before the output was complete.",
    }),
    limits: Object.fromEntries(LIMITS.map((limit) => [limit, reached(limit)])) as Record<LimitName, Counter>, // for each of them
    denials: metrics.counter({
      name: "codex_sandbox_denials_total",
      help: "Processes whose sandbox is known or assumed to have refused an access.",
    }),
  };
}

const LIMITS: readonly LimitName[] = ["memory", "cpus", "processes", "openFiles", "disk", "time"];

/** What processes with limits use at this moment. */
const USES = [
  ["codex_limited_memory_bytes", "memory", "Memory of running processes with limits."],
  ["codex_limited_processes", "processes", "Processes that count for a limit."],
] as const;

const programOf = ({ argv }: ProcessSpec): string => getProgramName(argv);

function describeOutcome(outcome: ProcessOutcome) {
  if (outcome.kind === "exited") return { outcome: outcome.kind, code: outcome.code };
  if (outcome.kind === "signaled") return { outcome: outcome.kind, signal: outcome.signal, by: outcome.by };
  return { outcome: outcome.kind };
}

function endSpan(span: Span | undefined, outcome: ProcessOutcome): void {
  if (span === undefined) return;
  const attributes: Attributes = { "codex.process.outcome": outcome.kind };
  if (outcome.kind === "exited") {
    span.set({ ...attributes, "process.exit.code": outcome.code });
    if (outcome.code !== 0) span.fail(String(outcome.code));
  } else {
    span.set(attributes);
    span.fail(outcome.kind === "signaled" ? outcome.signal : outcome.kind);
  }
  span.end();
}
