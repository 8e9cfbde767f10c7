import type { Histogram } from "./instruments.js";
import type { Labels, Metric, Registry } from "./registry.js";

/** Content type of the text that `renderMetrics` returns. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** The metrics in the text form of Prometheus, version 0.0.4. */
export function renderMetrics(registry: Registry): string {
  return registry
    .list()
    .map(({ name, help, type, metrics }) => {
      const head = `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`;
      return head + metrics.map((metric) => renderMetric(name, metric)).join("");
    })
    .join("");
}

function renderMetric(name: string, metric: Metric): string {
  if (metric.type === "histogram") return renderHistogram(name, metric.labels, metric.histogram);
  return renderSample(name, metric.labels, metric.read());
}

function renderHistogram(name: string, labels: Labels, { bounds, counts, sum, count }: Histogram): string {
  let cumulative = 0;
  const buckets = bounds.map((bound, index) => {
    cumulative += counts[index] ?? 0;
    return renderSample(`${name}_bucket`, { ...labels, le: renderNumber(bound) }, cumulative);
  });
  return [
    ...buckets,
    renderSample(`${name}_bucket`, { ...labels, le: "+Inf" }, count),
    renderSample(`${name}_sum`, labels, sum),
    renderSample(`${name}_count`, labels, count),
  ].join("");
}

function renderSample(name: string, labels: Labels, value: number): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${renderNumber(value)}\n`;
}

function renderNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (Number.isFinite(value)) return String(value);
  return value > 0 ? "+Inf" : "-Inf";
}

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"');
