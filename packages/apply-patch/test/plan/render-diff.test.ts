import { MAX_DIFF_BYTES, renderDiff } from "@codex/apply-patch";
import { describe, expect, it } from "vitest";

const diff = (before: string | undefined, after: string | undefined) =>
  renderDiff(
    before === undefined ? undefined : Buffer.from(before),
    after === undefined ? undefined : Buffer.from(after),
  );

describe("a diff", () => {
  const numbers = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => `${from + index}\n`).join("");

  it.each([
    [undefined, "a\nb\n", "@@ -0,0 +1,2 @@\n+a\n+b\n"],
    ["a\n", undefined, "@@ -1,1 +0,0 @@\n-a\n"],
    ["a\na\n", "a\n", "@@ -1,2 +1,1 @@\n a\n-a\n"],
    ["", "", "@@ -0,0 +0,0 @@\n"],
  ])("of %j and %j", (before, after, expected) => {
    expect(diff(before, after)).toBe(expected);
  });

  it("has three lines around the change", () => {
    const before = numbers(1, 20);
    expect(diff(before, before.replace("10\n", "x\ny\n"))).toBe(
      "@@ -7,7 +7,8 @@\n 7\n 8\n 9\n-10\n+x\n+y\n 11\n 12\n 13\n",
    );
  });

  it("is of text that is not too large", () => {
    expect(renderDiff(Buffer.from([0xff]), undefined)).toBeUndefined();
    expect(diff("x".repeat(MAX_DIFF_BYTES), undefined)).toBeDefined();
    expect(diff("x".repeat(MAX_DIFF_BYTES + 1), undefined)).toBeUndefined();
  });
});
