import { afterAll, beforeAll, expect, it } from "vitest";
import type { World } from "../../src/faults/exec-server-world.js";
import { createExecutorWorld } from "../../src/faults/executor-world.js";
import { runAll } from "../../src/faults/run-all.js";
import { type RunResult, renderFailure } from "../../src/faults/run-result.js";

let world: World;
beforeAll(async () => {
  world = await createExecutorWorld();
});
afterAll(() => world.close());

it.each(["resumed", "once", "streams"])("an executor keeps its promises: %s", { timeout: 90_000 }, async (kind) => {
  const failed: RunResult[] = [];
  const totals = await runAll({
    world,
    kinds: { [kind]: 1 },
    firstSeed: 1,
    runs: 12,
    jobs: 4,
    onResult: (result) => {
      if (result.problems.length > 0) failed.push(result);
    },
  });
  expect(failed.map(renderFailure).join("\n")).toBe("");
  expect(totals.processes).toBeGreaterThan(5);
});
