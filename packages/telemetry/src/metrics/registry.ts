import { type Counter, type Gauge, Histogram, SECONDS_BOUNDS } from "./instruments.js";

/** Label names and values of one instrument. */
export type Labels = Readonly<Record<string, string>>;

/** Name, help and labels of an instrument. */
export interface MetricOptions {
  /** As Prometheus names them: base units, `_total` for counters. */
  name: string;
  /** One sentence. */
  help: string;
  /** One instrument for each set of values. The values must come from a list, never from a peer. */
  labels?: Labels;
}

/** One instrument of a family, as it is read. */
export type Metric =
  | { type: "counter" | "gauge"; labels: Labels; read(): number }
  | { type: "histogram"; labels: Labels; histogram: Histogram };

/** Where the value of a metric comes from: held by the instrument, or read from functions when metrics are rendered. */
type Source = "held" | "read";

/** Every metric of one name. */
export interface MetricFamily {
  readonly name: string;
  readonly help: string;
  readonly type: Metric["type"];
  readonly metrics: readonly Metric[];
}

/**
 * The metrics of a process. Asking again for the same name and labels returns the same instrument.
 * @throws Error for a name or label that Prometheus does not allow, or a name that has another type
 */
export interface Registry {
  counter(options: MetricOptions): Counter;
  gauge(options: MetricOptions): Gauge;
  /** Values in seconds unless `bounds` are given. */
  histogram(options: MetricOptions & { bounds?: readonly number[] }): Histogram;
  /**
   * Calls `read` when metrics are rendered; a second `read` of the same name and labels is added to the first. Returns a
   * function that stops it.
   */
  observe(type: "counter" | "gauge", options: MetricOptions, read: () => number): () => void;
  /** Calls `listener` with each metric there is, and each that is created later. Returns a function that stops it. */
  watch(listener: (family: MetricFamily, metric: Metric) => void): () => void;
  /** In the order in which they were created. */
  list(): readonly MetricFamily[];
}

/** Makes an empty registry, which holds the metrics of one process until they are rendered. */
export function createRegistry(): Registry {
  const families = new Map<string, Family>();
  const listeners = new Set<(family: MetricFamily, metric: Metric) => void>();
  const get = <Made>(kind: Kind, options: MetricOptions, make: () => { metric: Metric; made: Made }): Made => {
    const { name, help, labels = {} } = options;
    checkNames(name, labels);
    const family = families.get(name) ?? { name, help, ...kind, metrics: [], made: new Map<string, unknown>() };
    if (family.type !== kind.type) throw new Error(`metric \`${name}\` is a ${family.type}, not a ${kind.type}`);
    if (family.source !== kind.source) throw new Error(`metric \`${name}\` is ${family.source}, not ${kind.source}`);
    families.set(name, family);
    const key = JSON.stringify(Object.entries(labels).sort());
    // The instrument under a key was created for the same type and source.
    if (family.made.has(key)) return family.made.get(key) as Made;
    const { metric, made } = make();
    family.metrics.push(metric);
    family.made.set(key, made);
    for (const listener of listeners) listener(family, metric);
    return made;
  };
  const single = (type: "counter" | "gauge", options: MetricOptions) =>
    get({ type, source: "held" }, options, () => {
      const made = { value: 0 };
      return { metric: { type, labels: options.labels ?? {}, read: () => made.value }, made };
    });
  return {
    counter: (options) => single("counter", options),
    gauge: (options) => single("gauge", options),
    histogram: (options) =>
      get({ type: "histogram", source: "held" }, options, () => {
        const histogram = new Histogram(options.bounds ?? SECONDS_BOUNDS);
        return { metric: { type: "histogram", labels: options.labels ?? {}, histogram }, made: histogram };
      }),
    observe(type, options, read) {
      const readers = get({ type, source: "read" }, options, () => {
        const made = new Set<() => number>();
        const sum = () => Array.from(made, (one) => one()).reduce((total, value) => total + value, 0);
        return { metric: { type, labels: options.labels ?? {}, read: sum }, made };
      });
      readers.add(read);
      return () => readers.delete(read);
    },
    watch(listener) {
      for (const family of families.values()) for (const metric of family.metrics) listener(family, metric);
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    list: () => [...families.values()],
  };
}

interface Kind {
  type: Metric["type"];
  source: Source;
}

interface Family extends MetricFamily, Kind {
  type: Metric["type"];
  metrics: Metric[];
  made: Map<string, unknown>;
}

function checkNames(name: string, labels: Labels): void {
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name)) throw new Error(`\`${name}\` is not a valid metric name`);
  for (const label of Object.keys(labels)) {
    if (!/^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/.test(label)) throw new Error(`\`${label}\` is not a valid label name`);
  }
}
