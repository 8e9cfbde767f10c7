// Registers an OpenTelemetry SDK before the command begins; each span that ends is a line of $SPANS.
import { appendFileSync } from "node:fs";
import { trace } from "@opentelemetry/api";
import { BasicTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";

const exporter = {
  export(spans, done) {
    for (const span of spans) {
      const { name, kind, attributes, parentSpanContext } = span;
      const { traceId, spanId } = span.spanContext();
      const told = { name, kind, attributes, parent: parentSpanContext?.spanId, traceId, spanId };
      appendFileSync(process.env.SPANS, `${JSON.stringify(told)}\n`);
    }
    done({ code: 0 });
  },
  shutdown: async () => {},
};
trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
