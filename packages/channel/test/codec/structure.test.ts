import { resolveLimits } from "@codex/channel";
import { expect, test } from "vitest";
import { type Excess, findExcess } from "../../src/codec/structure.js";

const check = (text: string, maxDepth: number, maxValues = 1_000_000): Excess | undefined =>
  findExcess(Buffer.from(text), resolveLimits({ maxDepth, maxValues }));

/** Depth and number of values by the definition, from the parsed value. */
function measure(value: unknown): { depth: number; values: number } {
  if (typeof value !== "object" || value === null) return { depth: 0, values: 0 };
  const inner = Object.values(value).map(measure);
  const depth = 1 + Math.max(0, ...inner.map((each) => each.depth));
  const commas = Math.max(0, inner.length - 1);
  return { depth, values: 1 + commas + inner.reduce((sum, each) => sum + each.values, 0) };
}

const TEXTS = [
  "1",
  '"[[[[[[[["',
  "[]",
  "[[],[[]],{}]",
  '{"a":{"b":{"c":[]}}}',
  '{"\\"[":"\\\\","{":["}"]}',
  '["\\\\\\"[[[[[[","\\\\",[[["x"]]]]',
  '[",,,,",{",":",\\",","x":[1,2,3]}]',
  `[${"[],".repeat(600)}[[[]]]]`,
  `{"long":"${"[{,".repeat(600)}","b":[[1,2]]}`,
  `["${"\\\\".repeat(400)}",[["${'\\"[,'.repeat(400)}"]]]`,
];

test.each(TEXTS)("measures %.60j", (text) => {
  const { depth, values } = measure(JSON.parse(text));
  for (let limit = 1; limit <= depth + 3; limit++)
    expect(check(text, limit)).toBe(depth > limit ? "too_deep" : undefined);
  for (const limit of [1, values - 1, values, values + 1].filter((each) => each > 0)) {
    expect(check(text, 128, limit)).toBe(values > limit ? "too_many_values" : undefined);
  }
});

test("measures bytes that are not JSON in linear time", () => {
  expect(check("[".repeat(100_000), 128)).toBe("too_deep");
  expect(check(`"${"[".repeat(100_000)}`, 128)).toBeUndefined();
  expect(check(`${"]".repeat(1_000)}${"[".repeat(1_000)}"\\`, 128)).toBeUndefined();
  expect(check(",".repeat(1_000), 128, 999)).toBe("too_many_values");
  expect(check('"\\', 1)).toBeUndefined();
});
