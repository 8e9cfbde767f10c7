import { OUTPUT_READ_BYTES, OUTPUT_TAIL_BYTES } from "@codex/servers";
import { expect, it } from "vitest";
import { getRetention } from "../../executor/src/output/retention.js";

it("keeps all output that may be under way, and a last read of both pipes, in memory that is not lent again", () => {
  const { pauseBytes = 0 } = getRetention({ tailBytes: OUTPUT_TAIL_BYTES }, "pause");
  expect(pauseBytes).toBeGreaterThanOrEqual(OUTPUT_READ_BYTES);
  expect(OUTPUT_TAIL_BYTES).toBeGreaterThanOrEqual(pauseBytes + 2 * OUTPUT_READ_BYTES);
});
