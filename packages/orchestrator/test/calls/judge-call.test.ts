import type { ApprovalDecision, ApprovalRequest, Judgement } from "@codex/orchestrator";
import { parseRulePolicy } from "@codex/policy";
import { describe, expect, it } from "vitest";
import { scriptedChannel } from "../support/executors.js";
import { attached } from "../support/orchestrators.js";

const rules = parseRulePolicy([{ file: "r", text: 'prefix_rule(pattern=["zap"], decision="forbidden")' }]);

/** An orchestrator that asks for everything that is not known to be safe; `answer` is that of its approver. */
async function start(answer?: ApprovalDecision) {
  const { channel, executor } = scriptedChannel();
  const asked: ApprovalRequest[] = [];
  const approver = {
    requestApproval: async (request: ApprovalRequest) => {
      asked.push(request);
      return answer ?? "decline";
    },
  };
  const policy = { approvalPolicy: "untrusted", rules, sandbox: "danger-full-access" } as const;
  const { orchestrator } = await attached(channel, { policy, ...(answer === undefined ? {} : { approver }) });
  const calls = () => executor.received.filter((message) => message.type === "call_tool").length;
  return { orchestrator, asked, calls };
}

function asking(judged: Judgement): Extract<Judgement, { kind: "ask" }> {
  if (judged.kind !== "ask") throw new Error(`judged as ${judged.kind}`);
  return judged;
}

describe("judging a call", () => {
  it.each([
    ["pwd", { kind: "allowed" }],
    ["say hi", { kind: "ask", request: { command: ["/bin/bash", "-lc", "say hi"], plainCommands: [["say", "hi"]] } }],
    ["zap x", { kind: "forbidden", result: { status: "forbidden", structured: { code: "forbidden" } } }],
  ])("%s: sends nothing and asks nobody", async (cmd, expected) => {
    const { orchestrator, asked, calls } = await start("accept");
    expect(await orchestrator.judge("exec_command", { cmd })).toMatchObject(expected);
    expect(await orchestrator.judge("exec_command", { cmd })).toMatchObject(expected);
    expect([asked.length, calls()]).toEqual([0, 0]);
  });

  it.each([
    ["exec_command", { cmd: 1 }, "invalid_arguments"],
    ["no_such_tool", {}, "unknown_tool"],
  ])("%s with %j is rejected", async (name, args, code) => {
    const { orchestrator } = await start();
    expect(await orchestrator.judge(name, args)).toMatchObject({ kind: "rejected", result: { structured: { code } } });
  });

  it("gives the same digest for the same call, and another for any other", async () => {
    const { orchestrator } = await start();
    const digest = async (args: object, options = {}) =>
      asking(await orchestrator.judge("exec_command", args, options)).digest;
    const first = await digest({ cmd: "say hi" });
    expect(await digest({ cmd: "say hi", yield_time_ms: 500 })).toBe(first);
    const others = [
      await digest({ cmd: "say ho" }),
      await digest({ cmd: "say hi", workdir: "/elsewhere" }),
      await digest({ cmd: "say hi", tty: true }),
      await digest({ cmd: "say hi" }, { cwd: "/turn" }),
    ];
    expect(new Set([first, ...others]).size).toBe(5);
  });

  it("knows what was accepted for the session", async () => {
    const { orchestrator } = await start("accept_for_session");
    await orchestrator.callTool("exec_command", { cmd: "say hi" });
    expect(await orchestrator.judge("exec_command", { cmd: "say hi" })).toEqual({ kind: "allowed" });
  });

  it("leaves the lines of a shell as they are", async () => {
    const { orchestrator, asked } = await start("accept");
    await orchestrator.callTool("exec_command", { cmd: "stay && bash" });
    asked.length = 0;
    const write = (chars: string) => [{ session_id: 1000, chars }] as const;
    expect(await orchestrator.judge("write_stdin", ...write("sudo "))).toEqual({ kind: "allowed" });
    const judged = asking(await orchestrator.judge("write_stdin", ...write("rm -rf x\n")));
    expect(judged.request.command).toEqual(["/bin/bash", "-c", "rm -rf x\n"]);
    await orchestrator.callTool("write_stdin", ...write("rm -rf x\n"));
    expect(asked.map(({ command }) => command.at(-1))).toEqual(["rm -rf x\n"]);
  });
});

describe("a grant", () => {
  it("lets the call run that was judged, without asking again", async () => {
    const { orchestrator, asked, calls } = await start("decline");
    const args = { cmd: "say hi" };
    const { digest } = asking(await orchestrator.judge("exec_command", args));
    const result = await orchestrator.callTool("exec_command", args, { grant: { digest, decision: "accept" } });
    expect(result.status).toBe("success");
    expect([asked.length, calls()]).toEqual([0, 1]);
  });

  it("counts for no other call", async () => {
    const { orchestrator, asked, calls } = await start("accept");
    const { digest } = asking(await orchestrator.judge("exec_command", { cmd: "say hi" }));
    const grant = { digest, decision: "accept" } as const;
    for (const args of [{ cmd: "say ho" }, { cmd: "say hi", workdir: "/elsewhere" }]) {
      const result = await orchestrator.callTool("exec_command", args, { grant });
      expect(result).toMatchObject({ status: "error", structured: { code: "changed" } });
    }
    expect([asked.length, calls()]).toEqual([0, 0]);
  });

  it("names the client where a client decided", async () => {
    const { orchestrator, calls } = await start();
    const args = { cmd: "say hi" };
    const { digest } = asking(await orchestrator.judge("exec_command", args));
    const call = (decision: ApprovalDecision) =>
      orchestrator.callTool("exec_command", args, { grant: { digest, decision, by: "client" } });
    const declined = await call("decline");
    expect(declined.text).toMatch(/^The command was not approved: the client declined it/);
    const cancelled = await call("cancel");
    expect(cancelled).toMatchObject({ status: "cancelled", structured: { reason: "the client ended the turn" } });
    expect(calls()).toBe(0);
  });

  it("cannot make a decision that is not offered", async () => {
    const { orchestrator, calls } = await start();
    const args = { cmd: "say hi" };
    const { digest } = asking(await orchestrator.judge("exec_command", args));
    const grant = { digest, decision: "accept_and_save" } as const;
    const result = await orchestrator.callTool("exec_command", args, { grant });
    expect(result).toMatchObject({ status: "denied" });
    expect(calls()).toBe(0);
  });

  it("is not needed for what is allowed, and does not allow what is forbidden", async () => {
    const { orchestrator } = await start();
    const grant = { digest: "", decision: "accept" } as const;
    expect((await orchestrator.callTool("exec_command", { cmd: "pwd" }, { grant })).status).toBe("success");
    expect((await orchestrator.callTool("exec_command", { cmd: "zap x" }, { grant })).status).toBe("forbidden");
  });
});

describe("the longest window of a call", () => {
  it("bounds what the model asks for, and its polls", async () => {
    const { channel, executor } = scriptedChannel();
    const { orchestrator } = await attached(channel);
    const sent = () =>
      executor.received.flatMap((message) =>
        message.type === "call_tool" ? [(message.arguments as { yieldTimeMs: number }).yieldTimeMs] : [],
      );
    const asked = { cmd: "stay", yield_time_ms: 20_000 };
    const result = await orchestrator.callTool("exec_command", asked, { maxWindowMs: 700 });
    expect(result.text).toMatch(/yield_time_ms 20000 ms is outside 250–700 ms; 700 ms was used/);
    await orchestrator.callTool("write_stdin", { session_id: 1000 }, { maxWindowMs: 100 });
    expect(sent()).toEqual([700, 100]);
  });

  it.each([-1, 0.5, Number.NaN])("cannot be %d", async (maxWindowMs) => {
    const { orchestrator } = await start();
    await expect(orchestrator.callTool("exec_command", { cmd: "pwd" }, { maxWindowMs })).rejects.toThrow(
      /maxWindowMs is .*; expected whole milliseconds from 0/,
    );
  });
});
