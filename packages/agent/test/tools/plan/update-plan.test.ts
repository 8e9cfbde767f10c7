import { describe, expect, it } from "vitest";
import { MAX_PLAN_STEPS } from "../../../src/limits.js";
import { createUpdatePlanTool } from "../../../src/tools/plan/update-plan.js";

async function call(args: Record<string, unknown>) {
  const shown: unknown[] = [];
  const signal = new AbortController().signal;
  const show = (details: unknown) => void shown.push(details);
  const answer = await createUpdatePlanTool().call(args, {
    callId: "c",
    signal,
    cwd: undefined,
    getSelected: () => undefined,
    environment: undefined,
    show,
    saveCheckpoint: async () => {},
  });
  return { ...answer, shown };
}

const step = (status: unknown) => ({ step: "test", status });

describe("update_plan", () => {
  it.each([[[]], [[step("pending"), step("in_progress"), step("in_progress"), step("completed")]]])(
    "takes %j",
    async (plan) => {
      const { output, shown } = await call({ plan, explanation: "why", more: 1 });
      expect(output).toBe("Plan updated");
      expect(shown).toEqual([{ kind: "plan", steps: plan.map(({ status }) => ({ text: "test", status })) }]);
    },
  );

  it.each<[args: Record<string, unknown>, pattern: RegExp]>([
    [{}, /`plan` is missing/],
    [{ plan: "x" }, /`plan` is missing or not a list/],
    [{ plan: [step("done")] }, /`plan\[0\]\.status` is "done"; expected one of pending, in_progress, completed/],
    [{ plan: [step("pending"), { status: "pending" }] }, /`plan\[1\]\.step` is missing/],
    [{ plan: [step(undefined)] }, /status` is missing/],
    [{ plan: [5] }, /step` is missing/],
    [{ plan: Array(MAX_PLAN_STEPS + 1).fill(step("pending")) }, new RegExp(`at most ${MAX_PLAN_STEPS}`)],
  ])("refuses %#", async (args, pattern) => {
    const { output, status, shown } = await call(args);
    expect([status, output, shown]).toEqual(["failed", expect.stringMatching(pattern), []]);
  });
});
