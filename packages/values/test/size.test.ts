import { expect, it } from "vitest";
import { sizeOfJson } from "../src/index.js";

it("counts what a value takes in memory, at any depth", () => {
  expect(sizeOfJson({ data: "x".repeat(1000) })).toBeGreaterThan(1000);
  expect(sizeOfJson({ data: "x".repeat(1000) })).toBeLessThan(1100);
  expect(sizeOfJson("Ā".repeat(1000))).toBeGreaterThan(2000);
  expect(sizeOfJson(Array.from({ length: 1000 }, () => 1))).toBeGreaterThan(8000);
  let deep: unknown = "x";
  for (let level = 0; level < 100_000; level += 1) deep = [deep];
  expect(sizeOfJson(deep)).toBeGreaterThan(100_000);
});
