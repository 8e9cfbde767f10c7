import { expect, it } from "vitest";
import { findProblems, OUTAGES, simulate } from "../../src/rendezvous/simulation.js";

// `pnpm simulate` does the same with 100,000 executors.
it.each(OUTAGES)("600 executors return within the bounds after the outage %s", { timeout: 60_000 }, async (outage) => {
  const options = { executors: 600, nodes: 3, outage, seed: 7 };
  const result = await simulate(options);
  expect(findProblems(options, result)).toEqual([]);
  expect(result.lost).toBeGreaterThan(0);
});

it("a bound that is exceeded is a problem", async () => {
  const options = { executors: 1, nodes: 1, outage: "node", seed: 1 } as const;
  const result = await simulate(options);
  // Its only node is gone.
  expect(findProblems(options, result)).toEqual([
    "not all executors were connected again",
    "1 registrations have expired",
  ]);
  const crowd = { ...result, peakDials: 4001, peakAccepted: 2001, expired: 1, registrations: 1 };
  expect(findProblems(options, crowd)).toHaveLength(4);
});
