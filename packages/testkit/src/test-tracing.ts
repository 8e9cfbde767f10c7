import { type Attributes, formatTraceContext, parseTraceContext, type Tracing } from "@codex/telemetry";

export interface TestSpan {
  name: string;
  kind: string;
  traceId: string;
  id: string;
  parent: string | undefined;
  attributes: Attributes;
}

/** A tracing that records ended spans, in the order of their ends; ids are consecutive. */
export function createTestTracing(): { tracing: Tracing; spans(): TestSpan[] } {
  const ended: TestSpan[] = [];
  let count = 0;
  const nextId = (digits: number) => (++count).toString(16).padStart(digits, "0");
  return {
    spans: () => ended,
    tracing: {
      startSpan(name, { kind, parent, attributes = {} }) {
        const above = parent === "active" ? undefined : parseTraceContext(parent);
        const span: TestSpan = {
          name,
          kind,
          traceId: above?.traceId ?? nextId(32),
          id: nextId(16),
          parent: above?.spanId,
          attributes: { ...attributes },
        };
        const set = (more: Attributes) => {
          span.attributes = { ...span.attributes, ...more };
        };
        return {
          context: formatTraceContext({ traceId: span.traceId, spanId: span.id, flags: 1, tracestate: undefined }),
          set,
          fail: (type) => set({ "error.type": type }),
          end: () => void ended.push(span),
        };
      },
    },
  };
}
