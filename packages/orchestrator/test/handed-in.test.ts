import type { AuditEvent } from "@codex/audit";
import { parseRulePolicy } from "@codex/policy";
import { expect, it } from "vitest";
import { scriptedChannel } from "./support/executors.js";
import { attached, type StageOptions } from "./support/orchestrators.js";

function boom(): never {
  throw new Error("boom");
}

class BrokenMap extends Map<string, never> {
  override get = boom;
}
const BROKEN_RULES = { ...parseRulePolicy([]), byFirst: new BrokenMap(), byFoldedFirst: new BrokenMap() };

it.each<[string, StageOptions, string]>([
  [
    "a sandbox selector",
    { policy: { approvalPolicy: "never", sandbox: { unrestricted: false, select: boom } } },
    "sandbox_unavailable",
  ],
  ["a list of rules", { policy: { approvalPolicy: "never", rules: BROKEN_RULES } }, "internal"],
])("%s that throws refuses the call, which is on record to its end", async (_name, options, code) => {
  const events: AuditEvent[] = [];
  const log = { record: async (event: AuditEvent) => void events.push(event), flush: async () => {} };
  const { channel, executor } = scriptedChannel();
  const { orchestrator } = await attached(channel, { ...options, audit: { log } });
  const result = await orchestrator.callTool("exec_command", { cmd: "echo one && echo two" });
  expect(result).toMatchObject({
    status: "error",
    structured: { code },
    text: expect.stringMatching(/boom.*Nothing was run/),
  });
  expect(events).toMatchObject([{ type: "call", runs: false, status: "error", code }]);
  expect(executor.received.map(({ type }) => type)).not.toContain("call_tool");
});
