import {
  type Span as ApiSpan,
  type Context,
  context,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import { formatTraceContext, parseTraceContext } from "../trace/trace-context.js";
import type { Span, SpanOptions, Tracing } from "../trace/tracing.js";

const KINDS = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER };

/** Spans of the tracer provider that is registered with `@opentelemetry/api`, also one registered later. */
export function createTracing(scope = "codex"): Tracing {
  const tracer = trace.getTracer(scope);
  return {
    startSpan(name, { kind, parent, attributes = {} }) {
      return wrapSpan(tracer.startSpan(name, { kind: KINDS[kind], attributes }, toContext(parent)));
    },
  };
}

function toContext(parent: SpanOptions["parent"]): Context {
  if (parent === "active") return context.active();
  const parsed = parseTraceContext(parent);
  if (parsed === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, flags: traceFlags, tracestate } = parsed;
  const state = tracestate === undefined ? {} : { traceState: createTraceState(tracestate) };
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true, ...state });
}

function wrapSpan(span: ApiSpan): Span {
  return {
    get context() {
      const { traceId, spanId, traceFlags: flags, traceState } = span.spanContext();
      return formatTraceContext({ traceId, spanId, flags, tracestate: traceState?.serialize() || undefined });
    },
    set: (attributes) => void span.setAttributes(attributes),
    fail(type) {
      span.setAttribute("error.type", type);
      span.setStatus({ code: SpanStatusCode.ERROR });
    },
    end() {
      if (span.isRecording()) span.end();
    },
  };
}
