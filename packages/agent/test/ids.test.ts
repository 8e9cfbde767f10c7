import { expect, it } from "vitest";
import { createUuid7 } from "../src/ids.js";

it("makes UUIDs of version 7 that sort by time", () => {
  const at = (now: number) => createUuid7(now, new Uint8Array(10).fill(255));
  expect(at(Date.UTC(2026, 0, 1))).toBe("019b76da-a800-7fff-bfff-ffffffffffff");
  expect(at(1) < at(2) && at(2 ** 32 - 1) < at(2 ** 32)).toBe(true);
});
