import { describe, expect, it } from "vitest";
import { parseArguments } from "../../src/resolve/arguments.js";

describe("parseArguments", () => {
  it.each([
    [{ a: 1 }, { a: 1 }],
    ['{"a":1}', { a: 1 }],
    ["", {}],
    [undefined, {}],
    [null, {}],
  ])("%j", (given, value) => expect(parseArguments(given, 100)).toEqual({ kind: "ok", value }));

  it.each([
    ["[1]", /expected a JSON object, got a list/],
    ["1", /got 1/],
    ["{", /text that is not JSON/],
    [[], /got a list/],
    [true, /got true/],
    [`{"a":"${"é".repeat(50)}"}`, /108 bytes \(limit 100 bytes\)/],
  ])("refuses %j", (given, problem) => {
    expect(parseArguments(given, 100)).toMatchObject({ kind: "rejected", problem: expect.stringMatching(problem) });
  });
});
