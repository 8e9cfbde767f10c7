import { type Histogram, type Meter, metrics, type Observable, type ObservableResult } from "@opentelemetry/api";
import type { MetricFamily, Registry } from "../metrics/registry.js";

/**
 * Exports every metric of a registry, also those created later, through the meter provider that is registered with
 * `@opentelemetry/api`. Counters and gauges are read when that provider collects. Returns a function that stops it.
 */
export function observeRegistry(registry: Registry, scope = "codex"): () => void {
  const meter = metrics.getMeter(scope);
  const observed = new Map<string, () => void>();
  const histograms = new Map<string, Histogram>();
  const ends: (() => void)[] = [];
  const unwatch = registry.watch((family, metric) => {
    const { name, help: description } = family;
    if (metric.type !== "histogram") {
      if (!observed.has(name)) observed.set(name, observeFamily(family, meter));
      return;
    }
    const { histogram, labels } = metric;
    const instrument = histograms.get(name) ?? meter.createHistogram(name, { description });
    histograms.set(name, instrument);
    histogram.listener = (value) => instrument.record(value, labels);
    ends.push(() => {
      histogram.listener = undefined;
    });
  });
  return () => {
    unwatch();
    for (const end of [...observed.values(), ...ends]) end();
  };
}

function observeFamily(family: MetricFamily, meter: Meter): () => void {
  const { name, help: description, type } = family;
  const instrument: Observable =
    type === "counter"
      ? meter.createObservableCounter(name, { description })
      : meter.createObservableGauge(name, { description });
  const read = (result: ObservableResult) => {
    for (const metric of family.metrics) if (metric.type !== "histogram") result.observe(metric.read(), metric.labels);
  };
  instrument.addCallback(read);
  return () => instrument.removeCallback(read);
}
