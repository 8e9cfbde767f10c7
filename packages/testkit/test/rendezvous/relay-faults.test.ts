import { expect, it } from "vitest";
import { runRelayFaults } from "../../src/rendezvous/relay-run.js";

// With `nats-server` two nodes, else one; `pnpm faults relay` runs more.
it("streams through a rendezvous lose and repeat nothing under 40 faults", { timeout: 120_000 }, async () => {
  const { faults, messages, problems } = await runRelayFaults({ seed: 3, faults: 40 });
  expect(problems).toEqual([]);
  expect(Object.values(faults).reduce((sum, count) => sum + count, 0)).toBeGreaterThanOrEqual(40);
  expect(messages).toBeGreaterThan(0);
});
