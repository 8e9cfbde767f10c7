import { createLocalOrchestrator } from "@codex/local";
import type { ApprovalRequest } from "@codex/orchestrator";
import { expect, it, onTestFinished } from "vitest";

async function open(maxSessions = 64) {
  const asked: ApprovalRequest[] = [];
  const orchestrator = await createLocalOrchestrator({
    policy: { approvalPolicy: "untrusted", sandbox: "danger-full-access" },
    defaults: { login: false, shell: "sh" },
    executor: { limits: { sessions: maxSessions, newestSessions: 1 } },
    approver: {
      async requestApproval(request) {
        asked.push(request);
        return "accept_for_session";
      },
    },
  });
  onTestFinished(() => orchestrator.close());
  const start = async (client: string | undefined, cmd = "cat") => {
    const args = { cmd, stdin: "open", yield_time_ms: 250 };
    const result = await orchestrator.callTool("exec_command", args, client === undefined ? {} : { client });
    if (result.isError || result.structured?.processId === undefined) throw new Error(result.text);
    return result.structured.processId;
  };
  return { orchestrator, asked, start };
}

it("keeps the sessions of clients apart: none is listed, read, written or ended by another", async () => {
  const { orchestrator, start } = await open();
  const [ofA, ofB] = [await start("a"), await start("b")];
  const list = async (client?: string) => {
    const { structured } = await orchestrator.callTool("list_sessions", {}, client === undefined ? {} : { client });
    const { sessions } = structured as { sessions: { sessionId: number }[] }; // as the tool has it
    return sessions.map(({ sessionId }) => sessionId);
  };
  expect([await list("a"), await list("b"), await list("c")]).toEqual([[ofA], [ofB], []]);
  expect((await list()).sort()).toEqual([ofA, ofB].sort());
  const calls = [
    ["write_stdin", { session_id: ofB, chars: "x\n" }],
    ["read_output", { session_id: ofB }],
    ["kill_session", { session_id: ofB }],
  ] as const;
  for (const [name, args] of calls) {
    const foreign = await orchestrator.callTool(name, args, { client: "a" });
    expect(foreign.isError, name).toBe(true);
    expect(foreign.text, name).toMatch(new RegExp(`unknown session ${ofB}`));
  }
  const args = { session_id: ofB, chars: "mine\n", until: "output" };
  const own = await orchestrator.callTool("write_stdin", args, { client: "b" });
  expect(own.text).toMatch(/\nmine\n$/);
});

it("remembers a decision for the session for the client that it was made for", async () => {
  const { orchestrator, asked } = await open();
  const run = (client: string) => orchestrator.callTool("exec_command", { cmd: "touch /dev/null" }, { client });
  await run("a");
  await run("a");
  expect(asked).toHaveLength(1);
  await run("b");
  expect(asked).toHaveLength(2);
});

it("tells repeats of one client from calls of another", async () => {
  const { orchestrator } = await open();
  const run = (client: string) =>
    orchestrator.callTool("exec_command", { cmd: "echo $$" }, { client, idempotencyKey: "1" });
  const [first, again, other] = [await run("a"), await run("a"), await run("b")];
  expect(again).toBe(first);
  expect(other.text).not.toBe(first.text);
});

it("takes places from the client that has the most, and not from one that has few", async () => {
  const { orchestrator, start } = await open(4);
  const few = await start("few");
  for (let count = 0; count < 6; count++) await start("many");
  const args = { session_id: few, chars: "still here\n", until: "output" };
  expect((await orchestrator.callTool("write_stdin", args, { client: "few" })).text).toMatch(/still here/);
});
