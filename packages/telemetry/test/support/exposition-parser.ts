/** A strict reader of the text form of Prometheus 0.0.4: anything it does not allow is an Error. */
export interface ParsedFamily {
  type: string;
  help: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = '([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\\\\n]|\\\\[\\\\"n])*)"';
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(${LABEL}(?:,${LABEL})*)\\})? (NaN|[+-]Inf|[+-]?[0-9.]+(?:e[+-]?[0-9]+)?)$`);

export function parseExposition(text: string): Map<string, ParsedFamily> {
  if (text !== "" && !text.endsWith("\n")) throw new Error("the last line has no line end");
  const families = new Map<string, ParsedFamily>();
  let current: { name: string; family: ParsedFamily } | undefined;
  const lines = text.split("\n").slice(0, -1);
  for (const [index, line] of lines.entries()) {
    const fail = (problem: string): never => {
      throw new Error(`line ${index + 1}: ${problem}: ${line}`);
    };
    const [, help, helpText] = new RegExp(`^# HELP (${NAME}) (.*)$`).exec(line) ?? [];
    if (help !== undefined && helpText !== undefined) {
      if (families.has(help)) fail("a family occurs twice");
      const next = new RegExp(`^# TYPE ${help} (counter|gauge|histogram|summary|untyped)$`).exec(
        lines[index + 1] ?? "",
      );
      if (next?.[1] === undefined) fail("no type follows the help");
      current = { name: help, family: { type: next?.[1] ?? "", help: helpText, samples: [] } };
      families.set(help, current.family);
      continue;
    }
    if (line.startsWith("# TYPE ")) continue;
    const [, name, labels = "", ...rest] = SAMPLE.exec(line) ?? [];
    if (name === undefined || current === undefined) return fail("no sample");
    const allowed =
      current.family.type === "histogram"
        ? ["_bucket", "_sum", "_count"].map((end) => current?.name + end)
        : [current.name];
    if (!allowed.includes(name)) fail(`a sample outside of its family ${current.name}`);
    const pairs = [...labels.matchAll(new RegExp(LABEL, "g"))].map(([, label = "", value = ""]) => [
      label,
      value.replace(/\\(.)/g, (_all, one: string) => (one === "n" ? "\n" : one)),
    ]);
    if (new Set(pairs.map(([label]) => label)).size !== pairs.length) fail("a label is repeated");
    const value = Number((rest.at(-1) ?? "").replace("Inf", "Infinity"));
    const sample = { name, labels: Object.fromEntries(pairs) as Record<string, string>, value };
    const isSame = (other: typeof sample) =>
      other.name === name && JSON.stringify(other.labels) === JSON.stringify(sample.labels);
    if (current.family.samples.some(isSame)) fail("a sample is repeated");
    if (current.family.type === "counter" && value < 0) fail("a counter is negative");
    current.family.samples.push(sample);
  }
  for (const [name, family] of families) if (family.type === "histogram") checkHistogram(name, family);
  return families;
}

function checkHistogram(name: string, { samples }: ParsedFamily): void {
  const series = new Map<string, { le: number; value: number }[]>();
  const keyOf = (labels: Record<string, string>) => JSON.stringify({ ...labels, le: undefined });
  for (const sample of samples.filter((one) => one.name === `${name}_bucket`)) {
    const le = Number(sample.labels.le?.replace("Inf", "Infinity"));
    if (Number.isNaN(le)) throw new Error(`${name}: a bucket without a bound`);
    const buckets = series.get(keyOf(sample.labels)) ?? [];
    const last = buckets.at(-1);
    if (last !== undefined && (le <= last.le || sample.value < last.value)) throw new Error(`${name}: buckets go down`);
    buckets.push({ le, value: sample.value });
    series.set(keyOf(sample.labels), buckets);
  }
  for (const [key, buckets] of series) {
    const find = (end: string) => samples.find((one) => one.name === name + end && keyOf(one.labels) === key);
    if (buckets.at(-1)?.le !== Number.POSITIVE_INFINITY) throw new Error(`${name}: no bucket +Inf`);
    if (find("_count")?.value !== buckets.at(-1)?.value) throw new Error(`${name}: the count is not that of +Inf`);
    if (find("_sum") === undefined) throw new Error(`${name}: no sum`);
  }
}
