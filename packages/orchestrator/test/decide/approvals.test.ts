import { getEventListeners } from "node:events";
import { FakeClock } from "@codex/clock/testing";
import type { ApprovalDecision, ApprovalRequest, Approver } from "@codex/orchestrator";
import { describe, expect, it } from "vitest";
import { Approvals } from "../../src/decide/approvals.js";
import { sessionKey } from "../../src/decide/session-key.js";
import { scriptedChannel } from "../support/executors.js";
import { attached } from "../support/orchestrators.js";

/** Answers from a list, and keeps what it was asked. */
class ListedApprover implements Approver {
  readonly asked: ApprovalRequest[] = [];
  readonly #decisions: ApprovalDecision[];

  constructor(...decisions: ApprovalDecision[]) {
    this.#decisions = decisions;
  }

  async requestApproval(request: ApprovalRequest): Promise<ApprovalDecision> {
    this.asked.push(request);
    const decision = this.#decisions.shift();
    if (decision === undefined) throw new Error("was not expected to be asked");
    return decision;
  }
}

async function untrusted(approver?: Approver, approvalMs = 0) {
  const { channel, executor } = scriptedChannel();
  const made = await attached(channel, {
    policy: "untrusted",
    ...(approver === undefined ? {} : { approver }),
    defaults: { timings: { approvalMs } },
  });
  return { ...made, executor, calls: () => executor.received.filter((message) => message.type === "call_tool") };
}

const QUESTION: ApprovalRequest = {
  id: "1",
  toolName: "exec_command",
  environment: "a",
  command: ["x"],
  plainCommands: [["x"]],
  cwd: "/a",
  tty: false,
  reason: "because",
  cause: { kind: "policy" },
  justification: null,
  sandboxPermissions: "use_default",
  additionalPermissions: null,
  sandbox: null,
  afterDenial: null,
  proposedAmendment: null,
  availableDecisions: ["accept"],
};

describe("approvals", () => {
  it("are asked with everything a person needs, and the command is sent with skip", async () => {
    const approver = new ListedApprover("accept");
    const { orchestrator, calls } = await untrusted(approver);
    const args = { cmd: "say hi", workdir: "sub", justification: "greeting", tty: true };
    const result = await orchestrator.callTool("exec_command", args);
    expect(result.status).toBe("success");
    expect(approver.asked).toEqual([
      {
        id: expect.any(String),
        toolName: "exec_command",
        environment: "main",
        command: ["/bin/bash", "-lc", "say hi"],
        plainCommands: [["say", "hi"]],
        cwd: "/srv/project/sub",
        tty: true,
        reason: expect.stringContaining("untrusted"),
        cause: { kind: "policy" },
        justification: "greeting",
        sandboxPermissions: "use_default",
        additionalPermissions: null,
        sandbox: null,
        afterDenial: null,
        proposedAmendment: ["say", "hi"],
        availableDecisions: ["accept", "accept_for_session", "decline", "cancel"],
      },
    ]);
    expect(calls()).toMatchObject([
      {
        arguments: {
          execApprovalRequirement: { skip: { bypassSandbox: false, proposedExecPolicyAmendment: ["say", "hi"] } },
          approvalId: approver.asked[0]?.id,
        },
      },
    ]);
  });

  it("are not asked for what is known to be safe", async () => {
    const { orchestrator, calls } = await untrusted();
    await orchestrator.callTool("exec_command", { cmd: "pwd" });
    expect(calls()).toMatchObject([{ arguments: { command: ["/bin/bash", "-lc", "pwd"] } }]);
  });

  it("are remembered for the session by command, directory and terminal, whatever the shell", async () => {
    const approver = new ListedApprover("accept_for_session", "accept", "accept", "accept", "decline");
    const { orchestrator } = await untrusted(approver);
    const run = (args: object) => orchestrator.callTool("exec_command", args);
    await run({ cmd: "say hi" });
    await run({ cmd: "say hi", shell: "sh", login: false });
    expect(approver.asked).toHaveLength(1);
    await run({ cmd: "say hi", workdir: "/elsewhere" });
    await run({ cmd: "say hi", tty: true });
    await run({ cmd: "say ho" });
    expect(approver.asked).toHaveLength(4);
    const again = await run({ cmd: "say ho" });
    expect(again.status).toBe("denied");
  });

  it("fail closed without an approver, and the model can read why", async () => {
    const { orchestrator, calls } = await untrusted();
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(result).toMatchObject({
      status: "denied",
      isError: true,
      text: expect.stringMatching(
        /^The command was not approved: .*there is no approver.*untrusted.*Nothing was run\.$/,
      ),
      structured: { code: "denied", command: ["/bin/bash", "-lc", "say hi"], cwd: "/srv/project" },
    });
    expect(calls()).toEqual([]);
  });

  it.each([
    ["decline", "denied", /the user declined it/],
    ["cancel", "cancelled", /the user ended the turn/],
    ["accept_and_save", "denied", /`accept_and_save` is not one of accept/],
  ] as const)("%s ends as %s", async (decision, status, text) => {
    const { orchestrator, calls } = await untrusted(new ListedApprover(decision));
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(result).toMatchObject({ status, isError: true, text: expect.stringMatching(text) });
    expect(calls()).toEqual([]);
  });

  it("count a failing approver as no decision", async () => {
    const { orchestrator } = await untrusted(new ListedApprover());
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(result).toMatchObject({ status: "denied", text: expect.stringMatching(/was not expected to be asked/) });
  });

  it("expire, and the signal of the approver aborts", async () => {
    const signals: AbortSignal[] = [];
    const silent: Approver = {
      requestApproval: (_request, { signal }) => {
        signals.push(signal);
        return new Promise(() => {});
      },
    };
    const { orchestrator, clock, calls } = await untrusted(silent, 60_000);
    const result = orchestrator.callTool("exec_command", { cmd: "say hi" });
    await clock.timer(60_000);
    clock.advance(60_000);
    expect(await result).toMatchObject({ status: "denied", text: expect.stringMatching(/within 60000 ms/) });
    expect(signals[0]?.aborted).toBe(true);
    expect(calls()).toEqual([]);
  });

  it("end with the call when it is aborted", async () => {
    const abort = new AbortController();
    const open: Approver = {
      requestApproval: () => {
        abort.abort();
        return new Promise(() => {});
      },
    };
    const { orchestrator, clock, calls } = await untrusted(open, 60_000);
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" }, { signal: abort.signal });
    expect(result).toMatchObject({ status: "interrupted", isError: true });
    expect(calls()).toEqual([]);
    expect(clock.pending).toBe(0);
  });

  it("lead out of the sandbox only where the command asked for that", async () => {
    const approver = new ListedApprover("accept", "accept");
    const { channel, executor } = scriptedChannel();
    const { orchestrator } = await attached(channel, {
      approver,
      policy: {
        approvalPolicy: "on-request",
        sandbox: {
          unrestricted: false,
          select: ({ bypassSandbox }) => (bypassSandbox ? null : { permissions: { type: "disabled" } }),
        },
      },
    });
    await orchestrator.callTool("exec_command", { cmd: "say a", sandbox_permissions: "require_escalated" });
    await orchestrator.callTool("exec_command", { cmd: "rm -rf x" });
    await orchestrator.callTool("exec_command", { cmd: "say b" });
    const sent = executor.received.flatMap((message) => (message.type === "call_tool" ? [message.arguments] : []));
    expect(sent).toMatchObject([
      { sandbox: null, execApprovalRequirement: { skip: { bypassSandbox: true } } },
      { sandbox: { permissions: { type: "disabled" } }, execApprovalRequirement: { skip: { bypassSandbox: false } } },
      { sandbox: { permissions: { type: "disabled" } }, execApprovalRequirement: { skip: { bypassSandbox: false } } },
    ]);
    expect(approver.asked.map((request) => request.cause.kind)).toEqual(["override", "dangerous"]);
  });

  it("are asked for each executor by itself", async () => {
    const approver = new ListedApprover("accept_for_session", "decline");
    const { orchestrator } = await untrusted(approver);
    await orchestrator.attach({ name: "other", channel: scriptedChannel().channel, shutdownOnClose: false });
    const run = (environment_id: string) => orchestrator.callTool("exec_command", { cmd: "say hi", environment_id });
    expect([await run("main"), await run("main"), await run("other")].map(({ status }) => status)).toEqual([
      "success",
      "success",
      "denied",
    ]);
  });

  it("are not asked for an executor that is offline", async () => {
    const { orchestrator, clock } = await untrusted(new ListedApprover("accept"));
    const crashed = await orchestrator.callTool("exec_command", { cmd: "crash" });
    expect(crashed.status).toBe("lost");
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(result).toMatchObject({ status: "error", structured: { code: "executor_offline" } });
    expect(clock.pending).toBe(0);
  });

  it("of a call that was aborted already are not asked", async () => {
    const approvals = new Approvals({ clock: new FakeClock(), timeoutMs: 0, limit: 1 });
    expect(
      await approvals.decide(
        { request: QUESTION, keys: ["x"], digest: "" },
        { signal: AbortSignal.abort(), client: undefined, grant: undefined, approver: new ListedApprover() },
      ),
    ).toEqual({
      kind: "interrupted",
    });
  });

  it("are not taken as given where there is nothing that they would be remembered by", async () => {
    const approvals = new Approvals({ clock: new FakeClock(), timeoutMs: 0, limit: 1 });
    const question = { request: QUESTION, keys: [], digest: "" };
    const { signal } = new AbortController();
    const approver = new ListedApprover("accept");
    expect(approvals.remembers(question, undefined)).toBe(false);
    await approvals.decide(question, { signal, client: undefined, grant: undefined, approver });
    expect(approver.asked).toEqual([QUESTION]);
  });

  it("leave nothing behind on the signal of a call", async () => {
    const { orchestrator } = await untrusted(new ListedApprover("accept"));
    const { signal } = new AbortController();
    await orchestrator.callTool("exec_command", { cmd: "say hi" }, { signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it.each<Partial<ApprovalRequest>>([
    { environment: "b" },
    { cwd: "/b" },
    { tty: true },
    { sandboxPermissions: "require_escalated" },
    { additionalPermissions: { network: { enabled: true } } },
  ])("for the session do not cover %j", (other) => {
    expect(sessionKey({ ...QUESTION, ...other }, ["x"])).not.toBe(sessionKey(QUESTION, ["x"]));
    expect(sessionKey({ ...QUESTION, id: "2", reason: "other" }, ["x"])).toBe(sessionKey(QUESTION, ["x"]));
  });

  it("do not help where an executor that knows only the base messages would have to apply a sandbox", async () => {
    const { channel, executor } = scriptedChannel({ initialize: false });
    const sandbox = { unrestricted: false, select: () => ({ permissions: { type: "disabled" as const } }) };
    const { orchestrator } = await attached(channel, { policy: { approvalPolicy: "on-request", sandbox } });
    const result = await orchestrator.callTool("exec_command", { cmd: "say hi", workdir: "/w" });
    expect(result).toMatchObject({
      status: "error",
      text: expect.stringMatching(
        /`main` cannot apply a sandbox: it supports only the base messages.*Nothing was run\.$/,
      ),
      structured: { code: "sandbox_unavailable" },
    });
    expect(executor.received.some((message) => message.type === "call_tool")).toBe(false);
  });

  it("are never asked for what is forbidden", async () => {
    const { channel, executor } = scriptedChannel();
    const approver = new ListedApprover();
    const { orchestrator } = await attached(channel, { policy: "never", approver });
    const dangerous = await orchestrator.callTool("exec_command", { cmd: "rm -rf build" });
    expect(dangerous).toMatchObject({
      status: "forbidden",
      isError: true,
      text: expect.stringMatching(/^The command is forbidden: .*rm-force.*Nothing was run\.$/),
      structured: { code: "forbidden", command: ["/bin/bash", "-lc", "rm -rf build"] },
    });
    const escalated = await orchestrator.callTool("exec_command", {
      cmd: "say hi",
      sandbox_permissions: "require_escalated",
    });
    expect(escalated).toMatchObject({ status: "forbidden", text: expect.stringMatching(/require_escalated/) });
    expect(executor.received.some((message) => message.type === "call_tool")).toBe(false);
  });
});
