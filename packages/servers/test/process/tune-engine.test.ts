import { expect, it } from "vitest";
import { collectGarbage } from "../../src/process/tune-engine.js";

it("collects what nobody holds", async () => {
  const ref = new WeakRef({});
  // What was made in this turn is held until its end.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage(Number.POSITIVE_INFINITY);
  expect(ref.deref()).toBeUndefined();
  expect("gc" in globalThis).toBe(false);
});
