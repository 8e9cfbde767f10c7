import { afterAll, beforeAll, expect, it } from "vitest";
import type { World } from "../../src/faults/exec-server-world.js";
import { createExecutorWorld } from "../../src/faults/executor-world.js";
import { renderFailure } from "../../src/faults/run-result.js";

let world: World;
beforeAll(async () => {
  world = await createExecutorWorld();
});
afterAll(() => world.close());

it.each([
  // Over stdio, a websocket, and with another executor at its place: programs that live on unless the guard ends them.
  ["executor-killed", [28, 34, 45, 69, 211]],
  ["orchestrator-killed", [1, 2, 3, 4]],
] as const)("keeps its promises: %s", { timeout: 90_000 }, async (kind, seeds) => {
  const results = await Promise.all(seeds.map((seed) => world.run(kind, seed)));
  const failed = results.filter(({ problems }) => problems.length > 0);
  expect(failed.map(renderFailure).join("\n")).toBe("");
  expect(results.reduce((sum, { processes }) => sum + processes, 0)).toBeGreaterThan(4);
});
