export { createLogFileSink, type LogFileSinkOptions } from "./log/file-sink.js";
export { escapeForTerminal, LOG_FORMATS, type LogFormat } from "./log/format.js";
export {
  createLogger,
  describeFault,
  LOG_LEVELS,
  type LogFields,
  type Logger,
  type LogLevel,
  type LogWrite,
  silentLogger,
  withFields,
} from "./log/logger.js";
export { createPipeSink } from "./log/pipe-sink.js";
export { createLineLogger, type LogOptions, type LogSink } from "./log/sink.js";
export { createStreamSink } from "./log/stream-sink.js";
export { METRICS_CONTENT_TYPE, renderMetrics } from "./metrics/exposition.js";
export type { Counter, Gauge, Histogram } from "./metrics/instruments.js";
export { observeProcess } from "./metrics/process-metrics.js";
export {
  createRegistry,
  type Labels,
  type Metric,
  type MetricFamily,
  type MetricOptions,
  type Registry,
} from "./metrics/registry.js";
export type { Telemetry } from "./telemetry.js";
export { cleanLine, cutToBytes } from "./text.js";
export { formatTraceContext, type ParsedTraceContext, parseTraceContext } from "./trace/trace-context.js";
export type { Attributes, Span, SpanOptions, TraceContext, Tracing } from "./trace/tracing.js";
