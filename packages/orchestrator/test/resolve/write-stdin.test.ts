import { writeStdinRequestSchema } from "@codex/executor-protocol";
import { describe, expect, it } from "vitest";
import { resolveConfig } from "../../src/config.js";
import { resolveWriteStdin } from "../../src/resolve/write-stdin.js";

const resolve = (args: Record<string, unknown>) => {
  const resolved = resolveWriteStdin(args, { config: resolveConfig() });
  if (resolved.kind === "rejected") return `${resolved.field}: ${resolved.problem}`;
  expect(writeStdinRequestSchema.parse(resolved.value.request)).toEqual(resolved.value.request);
  return resolved.value;
};

describe("write_stdin", () => {
  it("is a poll without characters", () => {
    expect(resolve({ session_id: 1234 })).toEqual({
      request: { processId: 1234, input: "", yieldTimeMs: 5_000, maxOutputTokens: 10_000 },
      notices: [],
    });
  });

  it("writes characters under a key, so that a repeat writes once", () => {
    expect(resolve({ session_id: 1, chars: "é\u0003" })).toMatchObject({
      request: { input: "é\u0003", yieldTimeMs: 250 },
    });
  });

  it.each([
    [{ chars: "x", yield_time_ms: 100 }, 250, "250–30000"],
    [{ chars: "x", yield_time_ms: 60_000 }, 30_000, "250–30000"],
    [{ yield_time_ms: 1_000 }, 5_000, "5000–300000"],
    [{ yield_time_ms: 900_000 }, 300_000, "5000–300000"],
    [{ signal: "interrupt", yield_time_ms: 100 }, 250, "250–30000"],
    [{ close_stdin: true, yield_time_ms: 100 }, 250, "250–30000"],
    [{ resize: { rows: 10, cols: 20 }, yield_time_ms: 100 }, 250, "250–30000"],
  ])("%j waits %d ms and says so", (args, yieldTimeMs, range) => {
    expect(resolve({ session_id: 1, ...args })).toMatchObject({
      request: { yieldTimeMs },
      notices: [`yield_time_ms ${args.yield_time_ms} ms is outside ${range} ms; ${yieldTimeMs} ms was used`],
    });
  });

  it("passes on what the protocol adds", () => {
    const args = { session_id: 1, signal: "kill", close_stdin: true, until: "output", resize: { rows: 5, cols: 6 } };
    expect(resolve(args)).toMatchObject({
      request: { signal: "kill", closeStdin: true, until: "output", resize: { rows: 5, cols: 6 } },
    });
  });

  it.each([
    [{}, "session_id: expected a number, got nothing"],
    [
      { sessionId: 1 },
      "session_id: expected a number, got nothing (there is no field `sessionId`; did you mean `session_id`?)",
    ],
    [
      { session_id: 1, resize: { rows: 1, columns: 1 } },
      "resize.cols: expected a number, got nothing (there is no field `columns`; did you mean `cols`?)",
    ],
    [{ session_id: 1, resize: { rows: 1 } }, "resize.cols: expected a number, got nothing"],
    [{ session_id: "12" }, 'session_id: expected a number, got "12"'],
    [{ session_id: 1.5 }, "session_id: expected an integer, got 1.5"],
    [{ session_id: 1, resize: { rows: 0, cols: 1 } }, "resize.rows: expected at least 1, got 0"],
  ])("%j does not fit", (args, expected) => expect(resolve(args)).toBe(expected));
});
