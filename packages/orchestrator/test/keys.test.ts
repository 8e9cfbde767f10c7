import type { ApprovalDecision } from "@codex/orchestrator";
import { expect, it } from "vitest";
import { scriptedChannel } from "./support/executors.js";
import { attached } from "./support/orchestrators.js";

it("keys count up in the order in which calls are sent, also for one that was long decided about", async () => {
  let decide = (_decision: ApprovalDecision) => {};
  let tellAsked = () => {};
  const asked = new Promise<void>((resolve) => {
    tellAsked = resolve;
  });
  const approver = {
    requestApproval: () =>
      new Promise<ApprovalDecision>((resolve) => {
        decide = resolve;
        tellAsked();
      }),
  };
  const { channel, executor } = scriptedChannel();
  const { orchestrator } = await attached(channel, { policy: "untrusted", approver });
  const slow = orchestrator.callTool("exec_command", { cmd: "touch slow" });
  await asked;
  for (let count = 0; count < 3; count++) await orchestrator.callTool("show_arguments", { count });
  await orchestrator.callTool("exec_command", { cmd: "ls" });
  decide("accept");
  await slow;
  const keys = executor.received.flatMap((one) => {
    if (one.type !== "call_tool") return [];
    const { idempotencyKey = one.idempotencyKey } = one.arguments as { idempotencyKey?: string };
    return [idempotencyKey];
  });
  const [series] = String(keys[0]).split("#");
  expect(keys).toEqual([1, 2, 3, 4, 5].map((number) => `${series}#${number}`));
});
