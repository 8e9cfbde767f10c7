/** W3C trace context as it is sent in a message. */
export interface TraceContext {
  traceparent?: string | null | undefined;
  tracestate?: string | null | undefined;
}

/** Attributes of a span; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Kind, parent and attributes of a new span. */
export interface SpanOptions {
  kind: "internal" | "client" | "server";
  /** `active`: whatever the caller runs in. Undefined, or an invalid context: the span starts a new trace. */
  parent: TraceContext | "active" | undefined;
  attributes?: Attributes;
}

/** Work that is traced. No method throws. */
export interface Span {
  /** The context to pass on to other processes. */
  readonly context: TraceContext;
  set(attributes: Attributes): void;
  /** Marks the span as failed; `type` is the class of the error. */
  fail(type: string): void;
  /** Idempotent. */
  end(): void;
}

/** Creates spans. Without one, `tracing?.startSpan(…)` costs nothing. */
export interface Tracing {
  startSpan(name: string, options: SpanOptions): Span;
}
