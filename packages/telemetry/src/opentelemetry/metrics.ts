import { metrics, type ObservableResult } from "@opentelemetry/api";
import type { Metric, MetricFamily, Registry } from "../metrics/registry.js";

/**
 * Gives every metric that a registry has now to the meter provider that is registered with `@opentelemetry/api`. Counters
 * and gauges are read when that one collects. The answer ends it.
 */
export function observeRegistry(registry: Registry, scope = "codex"): () => void {
  const meter = metrics.getMeter(scope);
  const ends = registry.list().map((family): (() => void) => {
    const { name, help: description, type } = family;
    if (type === "histogram") return observeHistograms(family, meter.createHistogram(name, { description }));
    const options = { description };
    const instrument =
      type === "counter" ? meter.createObservableCounter(name, options) : meter.createObservableGauge(name, options);
    const read = (result: ObservableResult) => {
      for (const metric of family.metrics)
        if (metric.type !== "histogram") result.observe(metric.read(), metric.labels);
    };
    instrument.addCallback(read);
    return () => instrument.removeCallback(read);
  });
  return () => {
    for (const end of ends) end();
  };
}

function observeHistograms(
  { metrics: all }: MetricFamily,
  instrument: { record(value: number, attributes: Metric["labels"]): void },
): () => void {
  const histograms = all.flatMap((metric) => (metric.type === "histogram" ? [metric] : []));
  for (const { histogram, labels } of histograms) histogram.listener = (value) => instrument.record(value, labels);
  return () => {
    for (const { histogram } of histograms) histogram.listener = undefined;
  };
}
