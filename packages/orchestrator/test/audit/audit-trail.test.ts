import type { AuditEvent, AuditLog } from "@codex/audit";
import type { ApprovalDecision, AuditOptions } from "@codex/orchestrator";
import { parseRulePolicy } from "@codex/policy";
import { describe, expect, it } from "vitest";
import { scriptedChannel } from "../support/executors.js";
import { attached } from "../support/orchestrators.js";

/** A log in memory that can be made to fail. */
class ListedLog implements AuditLog {
  readonly events: AuditEvent[] = [];
  failure: string | undefined;

  async record(event: AuditEvent): Promise<void> {
    if (this.failure !== undefined) throw new Error(this.failure);
    this.events.push(structuredClone(event));
  }

  async flush(): Promise<void> {}
}

async function audited(
  audit: Partial<AuditOptions> = {},
  approvalPolicy: "untrusted" | "never" = "never",
  ...decisions: ApprovalDecision[]
) {
  const log = new ListedLog();
  const { channel, executor } = scriptedChannel();
  const rules = parseRulePolicy([{ file: "/r", text: 'prefix_rule(pattern=["curl"], decision="forbidden")\n' }]);
  const requestApproval = async () => decisions.shift() ?? "decline";
  const stage = await attached(channel, {
    policy: { approvalPolicy, rules },
    audit: { log, ...audit },
    approver: { requestApproval },
  });
  return { ...stage, log, executor };
}

const HEX = expect.stringMatching(/^[0-9a-f]{64}$/);

describe("a call on record", () => {
  it("is there before it runs, with what decided, and again with what it came to", async () => {
    const { orchestrator, log } = await audited();
    await orchestrator.callTool("exec_command", '{"cmd":"say hi"}');
    const [call, result] = log.events;
    expect(log.events).toHaveLength(2);
    expect(call).toEqual({
      type: "call",
      call: expect.any(String),
      tool: "exec_command",
      runs: true,
      environment: "main",
      argvSha256: HEX,
      cwd: "/srv/project",
      tty: false,
      sandboxPermissions: "use_default",
      requirement: "skip",
      decidedBy: "policy",
      ...(call !== undefined && "sandbox" in call ? { sandbox: call.sandbox } : {}),
    });
    expect(result).toEqual({
      type: "result",
      call: call !== undefined && "call" in call ? call.call : "",
      status: "success",
      outcome: { kind: "exited", code: 0 },
      exitCode: 0,
      range: [0, 2],
      sandboxDenied: false,
    });
  });

  it("has the same hash for the same command, and another for another", async () => {
    const { orchestrator, log } = await audited();
    for (const cmd of ["say a", "say a", "say b"]) await orchestrator.callTool("exec_command", { cmd });
    const [a, same, b] = log.events.flatMap((event) => (event.type === "call" ? [event.argvSha256] : []));
    expect(same).toBe(a);
    expect(b).not.toBe(a);
  });

  it("that is refused is one record: the rule, and that nothing ran", async () => {
    const { orchestrator, log, executor } = await audited();
    await orchestrator.callTool("exec_command", { cmd: "curl x" });
    expect(log.events).toEqual([
      expect.objectContaining({
        type: "call",
        runs: false,
        requirement: "forbidden",
        cause: "rule",
        rules: [{ decision: "forbidden", rule: '["curl"] (/r:1)' }],
        decidedBy: "rule",
        status: "forbidden",
        code: "forbidden",
      }),
    ]);
    expect(executor.received.some(({ type }) => type === "call_tool")).toBe(false);
  });

  it.each<[ApprovalDecision, string, string, boolean]>([
    ["accept", "approved", "user", true],
    ["decline", "denied", "user", false],
    ["cancel", "cancelled", "user", false],
  ])("that was asked about tells the answer: %s", async (decision, recorded, by, runs) => {
    const { orchestrator, log } = await audited({}, "untrusted", decision);
    await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(log.events[0]).toMatchObject({ type: "approval", decision: recorded, by });
    expect(log.events[1]).toMatchObject({
      type: "call",
      requirement: "needsApproval",
      cause: "policy",
      decidedBy: by,
      runs,
    });
    expect(log.events).toHaveLength(runs ? 3 : 2);
  });

  it("tells what was remembered from an earlier answer", async () => {
    const { orchestrator, log } = await audited({}, "untrusted", "accept_for_session");
    for (let index = 0; index < 2; index++) await orchestrator.callTool("exec_command", { cmd: "say hi" });
    const answers = log.events.flatMap((event) => (event.type === "approval" ? [event.by] : []));
    expect(answers).toEqual(["user", "session"]);
  });

  it("of any other tool, and one that makes no sense, is there too", async () => {
    const { orchestrator, log } = await audited();
    await orchestrator.callTool("show_arguments", { a: 1 });
    await orchestrator.callTool("exec_command", { cmd: 7 });
    await orchestrator.callTool("nosuch", {});
    expect(log.events).toEqual([
      expect.objectContaining({ type: "call", tool: "show_arguments", runs: true, argumentsSha256: HEX }),
      expect.objectContaining({ type: "result", status: "success" }),
      expect.objectContaining({ type: "call", runs: false, status: "error", code: "invalid_arguments" }),
      expect.objectContaining({ type: "call", tool: "nosuch", runs: false, status: "error", code: "unknown_tool" }),
    ]);
  });
});

describe("a log that cannot be written", () => {
  it("stops every call where records are required, before anything is sent", async () => {
    const { orchestrator, log, executor } = await audited({ required: true });
    expect(await orchestrator.callTool("exec_command", { cmd: "say hi" })).toMatchObject({ status: "success" });
    log.failure = "disk full";
    for (const [name, args] of [
      ["exec_command", { cmd: "say hi" }],
      ["show_arguments", {}],
    ] as const) {
      const before = executor.received.length;
      expect(await orchestrator.callTool(name, args)).toMatchObject({
        status: "error",
        structured: { code: "audit_failed" },
        text: expect.stringMatching(/cannot be written: disk full\. Nothing was run\.$/),
      });
      expect(executor.received).toHaveLength(before);
    }
  });

  it("stops nothing otherwise", async () => {
    const { orchestrator, log } = await audited();
    log.failure = "disk full";
    expect(await orchestrator.callTool("exec_command", { cmd: "say hi" })).toMatchObject({ status: "success" });
  });
});

describe("secrets", () => {
  const SECRET = "hunter2hunter2";
  const COMMANDS = [
    `API_KEY=${SECRET} say hi`,
    `say --password ${SECRET}`,
    `say --token=${SECRET}`,
    `say -H 'Authorization: Bearer ${SECRET}'`,
    `say https://me:${SECRET}@host/`,
    `export DB_PASSWORD="${SECRET}"; say hi`,
  ];

  it.each(COMMANDS)("are in no record, with words or without: %s", async (cmd) => {
    for (const includeArgv of [false, true]) {
      const { orchestrator, log } = await audited({ includeArgv });
      await orchestrator.callTool("exec_command", { cmd, justification: SECRET });
      await orchestrator.callTool("show_arguments", { cmd });
      expect(log.events.length).toBeGreaterThan(1);
      expect(JSON.stringify(log.events)).not.toContain(SECRET);
      const [call] = log.events;
      expect(call !== undefined && "argv" in call).toBe(includeArgv);
    }
  });

  it("are not cut in half, which nobody would know", async () => {
    const { orchestrator, log } = await audited({ includeArgv: true });
    const filler = "x".repeat(1024 - "say https://hunter".length - "hunter2 ".length);
    await orchestrator.callTool("exec_command", { cmd: `say ${filler} https://${SECRET}@host/` });
    expect(JSON.stringify(log.events)).toContain(filler);
    expect(JSON.stringify(log.events)).not.toContain("hunt");
  });

  it.each(["sk-abcdefghijklmnop", "ghp_abcdefghijklmnopqrst", "AKIAABCDEFGHIJKLMNOP", "eyJhbGciOi.eyJzdWIi.sig"])(
    "are known by their looks: %s",
    async (token) => {
      const { orchestrator, log } = await audited({ includeArgv: true });
      await orchestrator.callTool("exec_command", { cmd: `say ${token}`, workdir: `/tmp/${token}` });
      expect(log.events[0]).toMatchObject({ argv: expect.anything() });
      expect(JSON.stringify(log.events)).not.toContain(token);
    },
  );
});
