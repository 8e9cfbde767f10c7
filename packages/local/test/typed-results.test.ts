import { createLocalOrchestrator } from "@codex/local";
import { type NamedToolResult, nameResult, type ToolCallResult } from "@codex/orchestrator";
import { expect, expectTypeOf, it } from "vitest";

it("results of the standard tools are typed by the name of the tool, as they are", async () => {
  const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
  const orchestrator = await createLocalOrchestrator({ policy, defaults: { login: false, shell: "sh" } });
  try {
    const started = await orchestrator.callTool("exec_command", {
      cmd: "echo hello; read x",
      tty: true,
      until: "output",
    });
    const session_id = answerOf(started).processId;
    expectTypeOf(session_id).toEqualTypeOf<number | undefined>();
    expectTypeOf(answerOf(started).firstRun?.exitCode).toEqualTypeOf<number | undefined>();
    const typed = await orchestrator.callTool("write_stdin", { session_id, chars: "", until: "output" });
    expect(answerOf(typed).outcome.kind).toBe("running");

    const { sessions } = answerOf(await orchestrator.callTool("list_sessions", {}));
    expect(sessions.map(({ sessionId, tty, cwd }) => [sessionId, tty, cwd])).toEqual([
      [session_id, true, process.cwd()],
    ]);
    const screen = answerOf(await orchestrator.callTool("read_screen", { session_id }));
    expect([screen.rows[0], screen.cursor.row, screen.modes.bracketedPasteMode]).toEqual(["hello", 2, false]);
    const part = answerOf(await orchestrator.callTool("read_output", { session_id, from: 1 }));
    expect([part.range, part.gone.map(({ from }) => from), part.closed]).toEqual([{ from: 1, to: 7 }, [], false]);
    const killed = answerOf(await orchestrator.callTool("kill_session", { session_id }));
    expect([killed.gone, killed.running, killed.signals?.[0]]).toEqual([true, true, expect.stringMatching(/^SIG/)]);
  } finally {
    await orchestrator.close();
  }
});

it("the name of a tool that is known at run time only tells the type of the result", () => {
  const result: ToolCallResult = { status: "success", isError: false, text: "", structured: { rows: ["x"] } };
  const describe = (named: NamedToolResult) => {
    if (named.result.status !== "success") return named.result.text;
    switch (named.tool) {
      case "read_screen":
        return named.result.structured?.rows;
      case "list_sessions":
        return named.result.structured?.sessions.length;
      case "other":
        return named.name;
      default:
        return named.tool;
    }
  };
  const names = ["read_screen", "own_tool", "toString", "kill_session"];
  expect(names.map((name) => describe(nameResult(name, result)))).toEqual([
    ["x"],
    "own_tool",
    "toString",
    "kill_session",
  ]);
});

/** The structured result of a call that was answered. */
function answerOf<Structured>(result: ToolCallResult<Structured>): Structured {
  if (result.isError || result.structured === undefined) throw new Error(result.text);
  return result.structured;
}
