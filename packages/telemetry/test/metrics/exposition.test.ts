import { describe, expect, it } from "vitest";
import { createRegistry, observeProcess, renderMetrics } from "../../src/index.js";
import { parseExposition } from "../support/exposition-parser.js";

const read = (registry: ReturnType<typeof createRegistry>) => parseExposition(renderMetrics(registry));

describe("the text form of metrics", () => {
  it("is empty for no metrics", () => {
    expect(renderMetrics(createRegistry())).toBe("");
  });

  it("has counters and gauges with their labels", () => {
    const registry = createRegistry();
    registry.counter({ name: "a_total", help: "A.", labels: { kind: "x" } }).value += 3;
    registry.counter({ name: "a_total", help: "A.", labels: { kind: "y" } });
    registry.gauge({ name: "b", help: "B." }).value = -1.5;
    expect(renderMetrics(registry)).toBe(
      '# HELP a_total A.\n# TYPE a_total counter\na_total{kind="x"} 3\na_total{kind="y"} 0\n# HELP b B.\n# TYPE b gauge\nb -1.5\n',
    );
    expect([...read(registry).keys()]).toEqual(["a_total", "b"]);
  });

  it("counts each value of a histogram in every bucket whose bound is not below it", () => {
    const registry = createRegistry();
    const histogram = registry.histogram({ name: "h", help: "H.", bounds: [1, 2] });
    for (const value of [0.5, 1, 1.5, 9]) histogram.observe(value);
    expect(
      read(registry)
        .get("h")
        ?.samples.map(({ labels, value }) => [labels.le, value]),
    ).toEqual([
      ["1", 2],
      ["2", 3],
      ["+Inf", 4],
      [undefined, 12],
      [undefined, 4],
    ]);
  });

  it.each(['a"b', "a\\b", "a\nb", "a\\", '"', "{}", ",", "ä"])("carries the label value %j", (value) => {
    const registry = createRegistry();
    registry.gauge({ name: "g", help: value, labels: { one: value, two: "2" } });
    expect(read(registry).get("g")?.samples[0]?.labels).toEqual({ one: value, two: "2" });
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, 5e-324, 2 ** 53])(
    "carries %d",
    (value) => {
      const registry = createRegistry();
      registry.gauge({ name: "g", help: "G." }).value = value;
      expect(read(registry).get("g")?.samples[0]?.value).toBe(value);
    },
  );

  it("has metrics of the process", () => {
    const registry = createRegistry();
    observeProcess(registry, { version: "1", role: "test" });
    const families = read(registry);
    expect(families.get("codex_build_info")?.samples).toEqual([
      { name: "codex_build_info", labels: { version: "1", role: "test" }, value: 1 },
    ]);
    expect(families.get("process_resident_memory_bytes")?.samples[0]?.value).toBeGreaterThan(1e6);
  });
});

describe("a registry", () => {
  it("gives the same instrument for the same name and labels", () => {
    const registry = createRegistry();
    const one = registry.counter({ name: "a_total", help: "A.", labels: { x: "1", y: "2" } });
    expect(registry.counter({ name: "a_total", help: "A.", labels: { y: "2", x: "1" } })).toBe(one);
  });

  it("sums several readers of one metric", () => {
    const registry = createRegistry();
    registry.observe("gauge", { name: "g", help: "G." }, () => 2);
    const end = registry.observe("gauge", { name: "g", help: "G." }, () => 3);
    expect(read(registry).get("g")?.samples[0]?.value).toBe(5);
    end();
    expect(read(registry).get("g")?.samples[0]?.value).toBe(2);
  });

  it.each([
    ["1a", {}, "`1a` is not a valid metric name"],
    ["a-b", {}, "`a-b` is not a valid metric name"],
    ["a", { __b: "x" }, "`__b` is not a valid label name"],
    ["a", { "b:c": "x" }, "`b:c` is not a valid label name"],
  ])("refuses %j %j", (name, labels, problem) => {
    expect(() => createRegistry().gauge({ name, help: "", labels: labels as Record<string, string> })).toThrow(problem);
  });

  it("refuses another type for a name", () => {
    const registry = createRegistry();
    registry.counter({ name: "a", help: "" });
    expect(() => registry.gauge({ name: "a", help: "" })).toThrow("metric `a` is a counter, not a gauge");
    expect(() => registry.observe("counter", { name: "a", help: "" }, () => 1)).toThrow("metric `a` is held, not read");
  });
});
