import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { collectGarbage, createFloodTuning } from "../../src/process/tune-engine.js";

it("collects what nobody holds", async () => {
  const ref = new WeakRef({});
  // What was made in this turn is held until its end.
  await new Promise((resolve) => setImmediate(resolve));
  collectGarbage(Number.POSITIVE_INFINITY);
  expect(ref.deref()).toBeUndefined();
  expect("gc" in globalThis).toBe(false);
});

const isNode20 = process.versions.v8.startsWith("11.3.");

it.runIf(isNode20)("V8 optimizes later at the beginning of a flood, and then as it does by default", async () => {
  const flags: string[] = [];
  const onFlood = createFloodTuning((flag) => flags.push(flag), 0);
  onFlood();
  onFlood();
  expect(flags).toEqual(["--interrupt-budget=1000000"]);
  await expect.poll(() => flags.length).toBe(2);
  const options = execFileSync(process.execPath, ["--v8-options"], { encoding: "latin1" });
  expect(options).toContain(`default: ${flags[1]}\n`);
  onFlood();
  expect(flags[2]).toBe(flags[0]);
});

it.runIf(!isNode20)("sets no flag that this V8 does not have", () => {
  const flags: string[] = [];
  createFloodTuning((flag) => flags.push(flag))();
  expect(flags).toEqual([]);
});
