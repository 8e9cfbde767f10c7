import { expect, it } from "vitest";
import { defined, messageOf } from "../src/index.js";

it("leaves out members that are undefined, and no others", () => {
  expect(Object.keys(defined({ a: undefined, b: null, c: 0, d: "", e: false }))).toEqual(["b", "c", "d", "e"]);
});

it("a member that is left out does not hide that of an earlier spread", () => {
  const given: { retries?: number | undefined } = { retries: undefined };
  expect({ retries: 3, ...defined(given) }).toEqual({ retries: 3 });
});

it("the message of an error is its text; of another value, the value as text", () => {
  expect(messageOf(new TypeError("no such file"))).toBe("no such file");
  expect(messageOf({ toString: () => "odd" })).toBe("odd");
  expect(messageOf(undefined)).toBe("undefined");
});
