import { afterAll, beforeAll, expect, it } from "vitest";
import { createExecServerWorld, type World } from "../../src/faults/exec-server-world.js";
import { runAll } from "../../src/faults/run-all.js";
import { type RunResult, renderFailure } from "../../src/faults/run-result.js";

let world: World;
beforeAll(async () => {
  world = await createExecServerWorld();
});
afterAll(() => world.close());

// Those that need a process of their own are left to `pnpm faults`.
it.each(["wire", "channel", "stdio", "abandoned"])(
  "keeps its promises over %s that fails",
  { timeout: 90_000 },
  async (kind) => {
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
    expect(totals.processes).toBeGreaterThan(12);
  },
);
