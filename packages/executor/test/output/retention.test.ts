import { expect, it } from "vitest";
import { getRetention } from "../../src/output/retention.js";

it("memory of output is used again only where what is not acknowledged holds the program", () => {
  const lends = (...[limits, ...rest]: Parameters<typeof getRetention>) => {
    const { log, chosen } = getRetention(limits, ...rest);
    expect(log.lendsChunks).toBe(chosen.lendsChunks);
    return log.lendsChunks ?? false;
  };
  expect(lends({ lendsChunks: true }, "pause", true)).toBe(true);
  expect(lends({ lendsChunks: true }, "pause", false)).toBe(false);
  expect(lends({ lendsChunks: true }, "spill", true)).toBe(false);
  expect(lends({ lendsChunks: true }, "drop", true)).toBe(false);
  expect(lends({}, "pause", true)).toBe(false);
});
