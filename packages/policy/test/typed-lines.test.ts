import { describe, expect, it } from "vitest";
import { MAX_TYPED_HISTORY, MAX_TYPED_LINE } from "../src/shell/limits.js";
import { TypedLines } from "../src/typed-lines.js";

describe("lines that are typed", () => {
  it("keeps what is not complete, up to a bound", () => {
    expect({ MAX_TYPED_LINE, MAX_TYPED_HISTORY }).toEqual({ MAX_TYPED_LINE: 65_536, MAX_TYPED_HISTORY: 16_384 });
    const lines = new TypedLines(false);
    lines.add("x".repeat(MAX_TYPED_LINE + 10), false).keep();
    const { lines: complete, before, isCut, keep } = lines.add("\n", false);
    expect([complete.length, before, isCut]).toEqual([MAX_TYPED_LINE + 1, "", true]);
    keep();
    const next = lines.add("y\n", false);
    expect([next.before.length, next.isCut]).toEqual([MAX_TYPED_HISTORY, false]);
  });

  it("forgets what was not written", () => {
    const lines = new TypedLines(false);
    lines.add("a", false).keep();
    lines.add("b\n", false);
    expect(lines.add("c\n", false).lines).toBe("ac\n");
  });

  it("reads keys as a terminal does, and as they stand", () => {
    expect(new TypedLines(true).read("lx\x7fs\r")).toEqual(["lxs\n", "ls\n"]);
    expect(new TypedLines(false).read("lx\x7fs\r\n")).toEqual(["lx\x7fs\r\n"]);
  });
});
