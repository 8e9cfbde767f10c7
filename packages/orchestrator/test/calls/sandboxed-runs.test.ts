import type { SandboxSupport } from "@codex/executor-protocol";
import type { ApprovalDecision, ApprovalRequest, Approver, OrchestratorOptions } from "@codex/orchestrator";
import { systemClock } from "@codex/orchestrator/testing";
import { type ApprovalPolicy, createSandboxSelector, type SandboxSettings } from "@codex/policy";
import { describe, expect, it } from "vitest";
import { scriptedChannel } from "../support/executors.js";
import { attached, stage } from "../support/orchestrators.js";

const BUBBLEWRAP: SandboxSupport = { kind: "bubblewrap" };
const NONE: SandboxSupport = { kind: "none", problem: "bubblewrap is not installed" };

interface Given {
  policy: ApprovalPolicy;
  mode?: SandboxSettings["mode"];
  support?: SandboxSupport | undefined;
  decide?: (request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>;
  defaults?: OrchestratorOptions["defaults"];
}

async function start({ policy: approvalPolicy, mode = "workspace-write", decide, defaults = {}, ...given }: Given) {
  const support = "support" in given ? given.support : BUBBLEWRAP;
  const { channel, executor } = scriptedChannel(support === undefined ? {} : { sandbox: support });
  const asked: ApprovalRequest[] = [];
  const approver: Approver = {
    async requestApproval(request) {
      asked.push(request);
      return decide === undefined ? "decline" : decide(request);
    },
  };
  const sandbox = createSandboxSelector({ mode });
  const { orchestrator } = await attached(channel, { policy: { approvalPolicy, sandbox }, approver, defaults });
  const sent = () => executor.received.flatMap((one) => (one.type === "call_tool" ? [one.arguments as Sent] : []));
  return { run: (args: object) => orchestrator.callTool("exec_command", args), orchestrator, asked, sent };
}
interface Sent {
  sandbox?: object | null;
  approvalId?: string;
  idempotencyKey?: string;
  execApprovalRequirement?: object;
}

const GRANULAR = (sandboxApproval: boolean): ApprovalPolicy => ({ granular: { sandboxApproval, rules: true } });
const MANAGED = { permissions: { type: "managed" } };
const OUTSIDE = { sandbox: null, execApprovalRequirement: { skip: { bypassSandbox: true } } };

describe("a command that the sandbox stopped", () => {
  it.each<[ApprovalPolicy, boolean]>([
    ["on-failure", true],
    ["untrusted", true],
    [GRANULAR(true), true],
    ["on-request", false],
    ["never", false],
    [GRANULAR(false), false],
  ])("under %j is asked about: %s", async (policy, isAsked) => {
    const { run, asked, sent } = await start({ policy, decide: () => "accept" });
    const result = await run({ cmd: "breach certain" });
    const questions = asked.filter(({ afterDenial }) => afterDenial !== null);
    expect(questions).toHaveLength(isAsked ? 1 : 0);
    expect(sent()).toMatchObject(isAsked ? [{ sandbox: MANAGED }, OUTSIDE] : [{ sandbox: MANAGED }]);
    expect(result.text).toMatch(isAsked ? /second run, outside.*already run in part.*done$/s : /half$/);
    expect(result.status).toBe("success");
  });

  it("is answered with the output of both runs", async () => {
    const { run } = await start({ policy: "on-failure", decide: () => "accept" });
    const result = await run({ cmd: "breach certain" });
    expect(result.text).toMatch(/^Note: this is a second run.*First run, in the sandbox:.*half\nSecond run:.*done$/s);
    expect(result.structured).toMatchObject({ exitCode: 0, firstRun: { exitCode: 1, range: { from: 0, to: 4 } } });
  });

  it("does not run again where its executor was started again meanwhile, and keeps what it wrote", async () => {
    const executors: ReturnType<typeof scriptedChannel>[] = [];
    const reconnect = async () => {
      const next = scriptedChannel({ sandbox: BUBBLEWRAP });
      executors.push(next);
      return next.channel;
    };
    let tellBack = () => {};
    const back = new Promise<void>((resolve) => {
      tellBack = resolve;
    });
    const approver: Approver = {
      async requestApproval() {
        await executors[0]?.channel.close({ abrupt: true });
        await back;
        return "accept";
      },
    };
    const { orchestrator } = stage({
      policy: { approvalPolicy: "on-failure", sandbox: createSandboxSelector({ mode: "workspace-write" }) },
      approver,
      clock: systemClock,
      jitter: () => 0,
      onOnline: () => tellBack(),
    });
    await orchestrator.attach({ name: "main", reconnect });
    const result = await orchestrator.callTool("exec_command", { cmd: "breach certain" });
    expect(result.text).toMatch(/^Note: it did not run again outside the sandbox, though that was approved: .*half$/s);
    expect(executors).toHaveLength(2);
    expect(executors[1]?.executor.received.map(({ type }) => type)).not.toContain("call_tool");
  });

  it("keeps what it wrote where the second run is lost", async () => {
    let approved = false;
    const { channel } = scriptedChannel({ sandbox: BUBBLEWRAP });
    const approver: Approver = {
      async requestApproval() {
        approved = true;
        return "accept";
      },
    };
    const send = channel.send.bind(channel);
    channel.send = async (value) => {
      if (approved) await channel.close();
      return send(value);
    };
    const { orchestrator } = await attached(channel, {
      policy: { approvalPolicy: "on-failure", sandbox: createSandboxSelector({ mode: "workspace-write" }) },
      approver,
    });
    const result = await orchestrator.callTool("exec_command", { cmd: "breach certain" });
    expect(result.text).toMatch(/second run.*half/s);
  });

  it("is asked about again where it was approved for the first run already", async () => {
    const { run, asked, sent } = await start({ policy: "untrusted", decide: () => "accept_for_session" });
    await run({ cmd: "breach certain" });
    await run({ cmd: "breach certain" });
    expect(asked.map(({ afterDenial, sandbox }) => [afterDenial?.reason, sandbox === null])).toEqual([
      [undefined, false],
      ["the sandbox refused `/etc/x`", true],
    ]);
    const [first, second, third, fourth] = sent();
    expect([second, fourth]).toMatchObject([OUTSIDE, OUTSIDE]);
    const keys = new Set([first, second, third, fourth].flatMap((one) => [one?.idempotencyKey, one?.approvalId]));
    expect(keys.size).toBe(8);
  });

  it("says what the first run was, and whether that is certain", async () => {
    const { run, asked } = await start({ policy: "on-failure" });
    await run({ cmd: "breach certain" });
    const guessed = await run({ cmd: "breach guess" });
    expect(asked).toMatchObject([
      {
        reason: "the sandbox refused `/etc/x`; the command has already run in part (exit code 1)",
        cause: { kind: "sandbox_denial" },
        afterDenial: { certain: true, exitCode: 1 },
        sandboxPermissions: "require_escalated",
        sandbox: null,
        proposedAmendment: ["breach", "certain"],
      },
      {
        reason: expect.stringMatching(/^going by its output alone, the sandbox refused/),
        afterDenial: { certain: false },
      },
    ]);
    expect(guessed).toMatchObject({ status: "success", structured: { exitCode: 1, sandboxDenied: false } });
    expect(guessed.text).toMatch(/^Note: it did not run again outside the sandbox: the user declined it.*half$/s);
  });

  it("ends the turn where that is decided, with what the first run wrote", async () => {
    const { run } = await start({ policy: "on-failure", decide: () => "cancel" });
    const result = await run({ cmd: "breach certain" });
    expect(result).toMatchObject({ status: "cancelled", isError: true, text: expect.stringMatching(/half$/) });
  });

  it("is asked about at whatever time that shows", async () => {
    const { run, orchestrator, asked, sent } = await start({ policy: "on-failure", decide: () => "accept" });
    const started = await run({ cmd: "stay" });
    const { processId } = started.structured as { processId: number };
    const write = (chars: string) => orchestrator.callTool("write_stdin", { session_id: processId, chars });
    await write("hello");
    // A call that fails says nothing about the session.
    await orchestrator.callTool("write_stdin", { session_id: processId, chars: 1 });
    await write("fail");
    expect(asked).toEqual([]);
    const result = await write("breach certain");
    expect(asked).toHaveLength(1);
    expect(sent().at(-1)).toMatchObject({ command: ["/bin/bash", "-lc", "stay"], ...OUTSIDE });
    expect(result.text).toMatch(/second run, outside.*session ID/s);
  });
});

describe("a command that has to be held", () => {
  it.each([
    [undefined, /`main` cannot apply a sandbox\. A command runs there only outside/],
    [NONE, /`main` cannot apply a sandbox: bubblewrap is not installed\. .*danger-full-access/],
  ])("is refused where the executor cannot, and nobody is asked: %j", async (support, expected) => {
    const { run, asked, sent } = await start({ policy: "untrusted", support });
    const result = await run({ cmd: "say hi" });
    expect(result).toMatchObject({ status: "error", structured: { code: "sandbox_unavailable" } });
    expect(result.text).toMatch(expected);
    expect([asked, sent()]).toEqual([[], []]);
  });

  it("runs outside where that is approved", async () => {
    const { run, sent } = await start({ policy: "on-request", support: NONE, decide: () => "accept" });
    await run({ cmd: "say hi", sandbox_permissions: "require_escalated" });
    expect(sent()).toMatchObject([OUTSIDE]);
  });
});

describe("the ceiling of an executor", () => {
  const under = (mode: SandboxSettings["mode"], network = false): SandboxSupport => ({
    kind: "bubblewrap",
    ceiling: { mode, roots: ["/srv"], network },
  });

  it.each<[SandboxSettings["mode"], SandboxSupport, object, RegExp | undefined]>([
    ["danger-full-access", under("workspace-write"), {}, /does not allow it: a sandbox is needed/],
    ["workspace-write", under("read-only"), {}, /does not allow it: writing `project_roots`.*`read-only`/],
    ["workspace-write", under("workspace-write"), {}, undefined],
    ["read-only", under("read-only"), {}, undefined],
    ["workspace-write", under("workspace-write"), { sandbox_permissions: "require_escalated" }, /a sandbox is needed/],
  ])("%s under %j with %j", async (mode, support, more, expected) => {
    const { run, asked, sent } = await start({ policy: "on-request", mode, support });
    const result = await run({ cmd: "say hi", ...more });
    expect(asked).toEqual([]);
    if (expected === undefined) expect(sent()).toHaveLength(1);
    else
      expect(result).toMatchObject({
        structured: { code: "sandbox_unavailable" },
        text: expect.stringMatching(expected),
      });
  });

  it("keeps a command from running again outside", async () => {
    const { run, asked } = await start({ policy: "on-failure", support: under("workspace-write") });
    const result = await run({ cmd: "breach certain" });
    expect(asked).toEqual([]);
    expect(result.text).toMatch(/cannot run again outside the sandbox: executor `main` does not allow it.*half$/s);
  });
});

describe("what was approved", () => {
  it("is what runs: a change in between is refused", async () => {
    const set: Record<string, string> = { A: "1" };
    const defaults = { envPolicy: { set } };
    const { run, sent } = await start({
      policy: "untrusted",
      defaults,
      decide: () => {
        set.A = "2";
        return "accept";
      },
    });
    const result = await run({ cmd: "say hi" });
    expect(result).toMatchObject({ status: "error", structured: { code: "changed" } });
    expect(sent()).toEqual([]);
  });

  it("is shown as a copy that cannot be changed", async () => {
    const attempts: unknown[] = [];
    const { run, sent } = await start({
      policy: "untrusted",
      decide: (request) => {
        for (const list of [request.command, request.availableDecisions, request.plainCommands[0]]) {
          try {
            (list as string[]).push("x");
          } catch (error) {
            attempts.push(error);
          }
        }
        return "accept";
      },
    });
    await run({ cmd: "say hi" });
    expect(attempts).toHaveLength(3);
    expect(sent()).toMatchObject([{ command: ["/bin/bash", "-lc", "say hi"], sandbox: MANAGED }]);
  });
});
