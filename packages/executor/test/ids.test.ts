import { describe, expect, it } from "vitest";
import { createCountingIds, createRandomIds } from "../src/index.js";

describe("random ids", () => {
  it("are integers from 1000 to 99999, whatever the source", () => {
    expect(createRandomIds(() => 0).session(() => false)).toBe(1000);
    expect(createRandomIds(() => 1 - Number.EPSILON / 2).session(() => false)).toBe(99_999);
    const ids = createRandomIds();
    for (let round = 0; round < 1_000; round++) {
      const id = ids.session(() => false);
      expect(Number.isInteger(id) && id >= 1000 && id <= 99_999).toBe(true);
      expect(ids.chunk()).toMatch(/^[0-9a-f]{6}$/);
    }
  });

  it("never give one that is taken, and go around the end", () => {
    const taken = new Set([99_999, 1000]);
    expect(createRandomIds(() => 0.999999).session((id) => taken.has(id))).toBe(1001);
    expect(() => createRandomIds().session(() => true)).toThrow(/all 99000 session ids are taken/);
  });

  it("pad chunk ids", () => {
    expect(createRandomIds(() => 0).chunk()).toBe("000000");
  });
});

describe("counting ids", () => {
  it("count up from 1000 past those that are taken", () => {
    const ids = createCountingIds();
    const taken = new Set([1001]);
    expect([1, 2, 3].map(() => ids.session((id) => taken.has(id)))).toEqual([1000, 1002, 1003]);
    expect([ids.chunk(), ids.chunk()]).toEqual(["000000", "000001"]);
  });
});
