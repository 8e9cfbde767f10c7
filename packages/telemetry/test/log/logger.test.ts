import { describe, expect, it } from "vitest";
import {
  createLineLogger,
  describeFault,
  LOG_LEVELS,
  type LogFields,
  type LogFormat,
  silentLogger,
  withFields,
} from "../../src/index.js";
import { formatLine } from "../../src/log/format.js";

function record(level: (typeof LOG_LEVELS)[number], format: LogFormat = "json") {
  const lines: string[] = [];
  const sink = { write: (line: string) => void lines.push(line), close: async () => {} };
  return { lines, log: createLineLogger({ level, format, sink, now: () => 0 }) };
}

/** Fields that must not be evaluated. */
const untouchable = (): LogFields => {
  throw new Error("fields of a level that is off were evaluated");
};

describe("a logger", () => {
  it.each([
    ["error", ["error"]],
    ["warn", ["error", "warn"]],
    ["info", ["error", "warn", "info"]],
    ["debug", ["error", "warn", "info", "debug"]],
  ] as const)("at %s writes %j and evaluates no other fields", (level, written) => {
    const { lines, log } = record(level);
    for (const name of LOG_LEVELS) {
      if ((written as readonly string[]).includes(name)) log[name]?.("event", { name });
      else log[name]?.("event", untouchable());
    }
    expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(written);
  });

  it("evaluates no fields when silent", () => {
    for (const name of LOG_LEVELS) silentLogger[name]?.("event", untouchable());
    for (const name of LOG_LEVELS) withFields(silentLogger, { a: 1 })[name]?.("event", untouchable());
  });

  it("adds fields of its own", () => {
    const { lines, log } = record("info");
    const bound = withFields(log, { connection: "c1", n: 1 });
    bound.info?.("event", { n: 2 });
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      level: "info",
      event: "event",
      connection: "c1",
      n: 2,
    });
    expect(bound.debug).toBeUndefined();
  });

  it("can be the console", () => {
    const log: typeof silentLogger = console;
    expect(log.info).toBeTypeOf("function");
  });
});

describe("a line", () => {
  const line = (fields: LogFields, format: LogFormat) =>
    formatLine({ at: 0, level: "warn", event: "e", fields }, format);

  it.each([
    [{ a: "b", n: 1, yes: true, none: undefined }, " a=b n=1 yes=true"],
    [{ a: "b c" }, ' a="b c"'],
    [{ a: "" }, ' a=""'],
    [{ a: 'x" b="y' }, ' a="x\\" b=\\"y"'],
    [{ a: "\u001b[2J\n\u009b\u202e" }, ' a="\\u001b[2J\\n\\u009b\\u202e"'],
  ])("of %j is text", (fields, expected) => {
    expect(line(fields, "text")).toBe(`1970-01-01T00:00:00.000Z warn  e${expected}\n`);
  });

  it("keeps its own members in JSON when fields have the same names", () => {
    expect(JSON.parse(line({ level: "x", time: "y", event: "z", a: "\n" }, "json"))).toEqual({
      time: "1970-01-01T00:00:00.000Z",
      level: "warn",
      event: "e",
      a: "\n",
    });
  });

  it("is one line and bounded", () => {
    for (const format of ["text", "json"] as const) {
      const made = line({ a: `${"\n".repeat(5000)}` }, format);
      expect(made.match(/\n/g)).toHaveLength(1);
      expect(made.length).toBeLessThan(8000);
    }
  });
});

it("an error is logged by its class and place, without its message", () => {
  const fields = describeFault(Object.assign(new TypeError("s3cret\n    at s3cret.ts:1:1"), { code: "EIO" }));
  expect(fields).toMatchObject({ error: "TypeError", code: "EIO" });
  expect(describeFault(new Error("plain")).at).toMatch(/^logger\.test\.ts:\d+:\d+$/);
  expect(describeFault("s3cret")).toEqual({ error: "string" });
});
