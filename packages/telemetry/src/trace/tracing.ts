/** W3C trace context as it crosses a wire. */
export interface TraceContext {
  traceparent?: string | null | undefined;
  tracestate?: string | null | undefined;
}

/** Attributes of a span; undefined ones are left out. */
export type Attributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Kind, parent and attributes of a span that begins. */
export interface SpanOptions {
  kind: "internal" | "client" | "server";
  /** `active`: whatever the caller runs in. Undefined, or a context that cannot be read: the span begins a trace. */
  parent: TraceContext | "active" | undefined;
  attributes?: Attributes;
}

/** Work that is traced. No method throws. */
export interface Span {
  /** For what happens elsewhere on its behalf. */
  readonly context: TraceContext;
  set(attributes: Attributes): void;
  /** It went wrong; `type` names the class of what did. */
  fail(type: string): void;
  /** Idempotent. */
  end(): void;
}

/** Creates spans. Without one, `tracing?.startSpan(…)` costs nothing. */
export interface Tracing {
  startSpan(name: string, options: SpanOptions): Span;
}
