import { context, metrics, trace } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { afterEach, describe, expect, it } from "vitest";
import { createRegistry, parseTraceContext } from "../../src/index.js";
import { createTracing, observeRegistry } from "../../src/opentelemetry/index.js";

const TRACE_ID = "0af7651916cd43dd8448eb211c80319c";
const SPAN_ID = "b7ad6b7169203331";

afterEach(() => {
  trace.disable();
  metrics.disable();
  context.disable();
});

function register() {
  const exporter = new InMemorySpanExporter();
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }));
  return exporter;
}

describe("tracing", () => {
  it("does nothing without a provider, and works with one that is registered later", () => {
    const tracing = createTracing();
    const idle = tracing.startSpan("before", { kind: "internal", parent: undefined });
    idle.set({ a: 1 });
    idle.fail("x");
    idle.end();
    expect(parseTraceContext(idle.context)).toBeUndefined();
    const exporter = register();
    tracing.startSpan("after", { kind: "internal", parent: undefined }).end();
    expect(exporter.getFinishedSpans().map(({ name }) => name)).toEqual(["after"]);
  });

  it("continues a trace that was received, and passes it on", () => {
    const exporter = register();
    const parent = { traceparent: `00-${TRACE_ID}-${SPAN_ID}-01`, tracestate: "a=1,b=2" };
    const span = createTracing().startSpan("call", { kind: "server", parent, attributes: { "rpc.method": "m" } });
    expect(span.context).toEqual({
      traceparent: expect.stringMatching(new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`)) as string,
      tracestate: "a=1,b=2",
    });
    span.fail("-32600");
    span.end();
    span.end();
    const [finished] = exporter.getFinishedSpans();
    expect(exporter.getFinishedSpans()).toHaveLength(1);
    expect(finished?.parentSpanContext).toMatchObject({ traceId: TRACE_ID, spanId: SPAN_ID, isRemote: true });
    expect(finished?.attributes).toEqual({ "rpc.method": "m", "error.type": "-32600" });
    expect(finished?.kind).toBe(1);
  });

  it("starts a new trace for an invalid context", () => {
    const exporter = register();
    createTracing()
      .startSpan("call", { kind: "server", parent: { traceparent: "garbage" } })
      .end();
    expect(exporter.getFinishedSpans()[0]?.parentSpanContext).toBeUndefined();
  });
});

it.each([
  [`00-${TRACE_ID}-${SPAN_ID}-01`, true],
  [`cc-${TRACE_ID}-${SPAN_ID}-01-more`, true],
  [`00-${TRACE_ID}-${SPAN_ID}-01-more`, false],
  [`ff-${TRACE_ID}-${SPAN_ID}-01`, false],
  [`00-${"0".repeat(32)}-${SPAN_ID}-01`, false],
  [`00-${TRACE_ID}-${"0".repeat(16)}-01`, false],
  [`00-${TRACE_ID.toUpperCase()}-${SPAN_ID}-01`, false],
  ["", false],
])("traceparent %j is one: %j", (traceparent, expected) => {
  expect(parseTraceContext({ traceparent }) !== undefined).toBe(expected);
});

it("a tracestate that is too long is left out", () => {
  const traceparent = `00-${TRACE_ID}-${SPAN_ID}-01`;
  expect(parseTraceContext({ traceparent, tracestate: `a=${"x".repeat(511)}` })).toMatchObject({
    tracestate: undefined,
  });
});

it("metrics of a registry are collected by a meter provider", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  metrics.setGlobalMeterProvider(provider);
  const registry = createRegistry();
  const counter = registry.counter({ name: "a_total", help: "A.", labels: { kind: "x" } });
  registry.observe("gauge", { name: "g", help: "G." }, () => 7);
  const end = observeRegistry(registry);
  const histogram = registry.histogram({ name: "h", help: "H." });
  counter.value += 3;
  histogram.observe(0.5);
  await reader.forceFlush();
  const collected = exporter.getMetrics()[0]?.scopeMetrics[0]?.metrics ?? [];
  expect(collected.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints[0]?.attributes])).toEqual([
    ["a_total", { kind: "x" }],
    ["g", {}],
    ["h", {}],
  ]);
  expect(collected.slice(0, 2).map(({ dataPoints }) => dataPoints[0]?.value)).toEqual([3, 7]);
  expect(collected[2]?.dataPoints[0]?.value).toMatchObject({ count: 1, sum: 0.5 });
  end();
  await provider.shutdown();
});
