import { describe, expect, it } from "vitest";
import { evictOldest } from "../src/index.js";

describe("evictOldest", () => {
  it("deletes what was added first, down to the limit, and tells it", () => {
    const set = new Set(["a", "b", "c", "d"]);
    expect(evictOldest(set, 2)).toEqual(["a", "b"]);
    expect([...set]).toEqual(["c", "d"]);
    expect(evictOldest(set, 2)).toEqual([]);
  });

  it("leaves what is in use, even above the limit", () => {
    const map = new Map([
      ["old", { live: true }],
      ["ended", { live: false }],
      ["new", { live: true }],
    ]);
    expect(evictOldest(map, 1, (_key, { live }) => live)).toEqual(["ended"]);
    expect([...map.keys()]).toEqual(["old", "new"]);
    expect(evictOldest(map, 1, (key) => key === "old")).toEqual(["new"]);
  });
});
