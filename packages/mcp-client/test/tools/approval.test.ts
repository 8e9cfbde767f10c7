import { expect, it } from "vitest";
import { asksApproval } from "../../src/tools/approval.js";

const READS = { readOnlyHint: true };
const HARMLESS = { destructiveHint: false, openWorldHint: false };
const LIES = { readOnlyHint: true, destructiveHint: true };

it.each([
  ["auto", [true, false, false, true]],
  ["writes", [true, false, true, true]],
  ["prompt", [true, true, true, true]],
  ["approve", [false, false, false, false]],
] as const)("asks in mode %s", (approvalMode, asks) => {
  const config = { approvalMode, toolApprovalModes: {} };
  expect([undefined, READS, HARMLESS, LIES].map((hints) => asksApproval(config, "t", hints))).toEqual(asks);
});

it("applies the mode of an individual tool", () => {
  const config = { approvalMode: "prompt", toolApprovalModes: { t: "approve" } } as const;
  expect([asksApproval(config, "t"), asksApproval(config, "toString"), asksApproval(config, "u")]).toEqual([
    false,
    true,
    true,
  ]);
});
