import { expect, it } from "vitest";
import { getRetention } from "../../executor/src/output/retention.js";
import { OWN_LOG_TAIL_BYTES, OWN_PIPE_BYTES } from "../src/limits.js";

it("keeps all output that may be under way, and a last read of both pipes, in memory that is not lent again", () => {
  const { pauseBytes = 0 } = getRetention({ tailBytes: OWN_LOG_TAIL_BYTES }, "pause");
  expect(pauseBytes).toBeGreaterThanOrEqual(OWN_PIPE_BYTES);
  expect(OWN_LOG_TAIL_BYTES).toBeGreaterThanOrEqual(pauseBytes + 2 * OWN_PIPE_BYTES);
});
