import { expect, it } from "vitest";
import { getRetention } from "../../src/output/retention.js";

const lends = (...[limits, ...rest]: Parameters<typeof getRetention>) => {
  const { log, chosen } = getRetention(limits, ...rest);
  expect(log.lendsChunks).toBe(chosen.lendsChunks);
  return log.lendsChunks ?? false;
};

it("reuses the memory of output in one process only where what is not acknowledged holds the program", () => {
  const acks = { acknowledges: true, reportsWritten: false };
  expect(lends({ lendsChunks: true }, "pause", acks)).toBe(true);
  expect(lends({ lendsChunks: true }, "pause", { ...acks, acknowledges: false })).toBe(false);
  expect(lends({ lendsChunks: true }, "spill", acks)).toBe(false);
  expect(lends({ lendsChunks: true }, "drop", acks)).toBe(false);
  expect(lends({}, "pause", acks)).toBe(false);
  expect(getRetention({ lendsChunks: true }, "pause", acks).pinsUnwritten).toBe(false);
});

it("reuses it wherever the channel reports what it has written, once it has", () => {
  for (const whenFull of ["pause", "spill", "drop"] as const) {
    for (const acknowledges of [true, false]) {
      const receiver = { acknowledges, reportsWritten: true };
      expect(lends({}, whenFull, receiver)).toBe(true);
      expect(getRetention({}, whenFull, receiver).pinsUnwritten).toBe(true);
    }
  }
});
