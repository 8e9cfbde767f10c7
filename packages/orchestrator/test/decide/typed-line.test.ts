import type { ApprovalRequest } from "@codex/orchestrator";
import { type ApprovalPolicy, parseRulePolicy } from "@codex/policy";
import { describe, expect, it } from "vitest";
import { scriptedChannel } from "../support/executors.js";
import { attached } from "../support/orchestrators.js";

const rules = parseRulePolicy([
  {
    file: "r",
    text: 'prefix_rule(pattern=["zap"], decision="forbidden")\nprefix_rule(pattern=["git", "push"], decision="prompt")',
  },
]);

/** A session with a shell in it; `stay` is what the scripted executor runs on. */
async function startShell(
  options: {
    cmd?: string;
    tty?: boolean;
    approvalPolicy?: ApprovalPolicy;
    answer?: "accept" | "decline" | "cancel";
  } = {},
) {
  const { cmd = "stay && bash", tty = false, approvalPolicy = "on-request", answer = "accept" } = options;
  const { channel, executor } = scriptedChannel();
  const asked: ApprovalRequest[] = [];
  const approver = {
    requestApproval: async (request: ApprovalRequest) => {
      asked.push(request);
      return answer;
    },
  };
  const policy = { approvalPolicy, rules, sandbox: "danger-full-access" } as const;
  const { orchestrator } = await attached(channel, { policy, approver });
  const started = await orchestrator.callTool("exec_command", { cmd, tty });
  expect(started).toMatchObject({ structured: { processId: 1000 } });
  asked.length = 0;
  const write = async (chars: string, more: object = {}) =>
    (await orchestrator.callTool("write_stdin", { session_id: 1000, chars, ...more })).status;
  const written = () =>
    executor.received.flatMap((message) =>
      message.type === "call_tool" && message.toolName === "write_stdin"
        ? [(message.arguments as { input: string }).input] // as the protocol has it
        : [],
    );
  return { write, written, asked, orchestrator };
}

describe("a line typed into a shell", () => {
  it("is judged as the script that it is", async () => {
    const { write, written, asked, orchestrator } = await startShell();
    expect(await write("ls -la\n")).toBe("success");
    const refused = await orchestrator.callTool("write_stdin", { session_id: 1000, chars: "sudo zap x\n" });
    expect(refused).toMatchObject({ status: "forbidden", structured: { code: "forbidden" } });
    expect(refused.text).toMatch(/^The input is forbidden: rule .*zap.*Nothing was written\.$/);
    expect(asked).toEqual([]);
    expect(await write("rm -rf x\n")).toBe("success");
    expect(await write("git push\n")).toBe("success");
    expect(asked.map(({ toolName, command }) => [toolName, command])).toEqual([
      ["write_stdin", ["/bin/bash", "-c", "rm -rf x\n"]],
      ["write_stdin", ["/bin/bash", "-c", "git push\n"]],
    ]);
    expect(written()).toEqual(["ls -la\n", "rm -rf x\n", "git push\n"]);
  });

  it("is put together from its pieces", async () => {
    const { write, written } = await startShell();
    expect(await write("z")).toBe("success");
    expect(await write("ap")).toBe("success");
    expect(await write(" x\n")).toBe("forbidden");
    expect(await write("\n")).toBe("forbidden");
    expect(written()).toEqual(["z", "ap"]);
  });

  it("is put together in the order of the calls, however many are under way", async () => {
    const { write } = await startShell();
    const found = await Promise.all([write("echo a\n"), write("z"), write("ap"), write(" x\n"), write("ls\n")]);
    expect(found.slice(0, 4)).toEqual(["success", "success", "success", "forbidden"]);
  });

  it("counts as complete when the input is closed", async () => {
    const { write } = await startShell();
    expect(await write("zap x")).toBe("success");
    expect(await write("", { close_stdin: true })).toBe("forbidden");
    const other = await startShell();
    expect(await other.write("zap x", { close_stdin: true })).toBe("forbidden");
  });

  it("is read together with those before it", async () => {
    const { write, asked } = await startShell({ answer: "accept" });
    expect(await write("z=zap\n")).toBe("success");
    expect(await write("$z x\n")).toBe("forbidden");
    expect(await write("bash <<E\n")).toBe("success");
    expect(await write("zap x\n")).toBe("forbidden");
    expect(await write("rm -rf a\nls\n")).toBe("success");
    expect(asked).toHaveLength(1);
    // What was accepted is not asked about again because of another line, and is when it is typed again.
    expect(await write("ls\n")).toBe("success");
    expect(asked).toHaveLength(1);
    expect(await write("rm -rf a\n")).toBe("success");
    expect(asked).toHaveLength(2);
  });

  it("is asked about when its beginning is too long ago", async () => {
    const { write, asked } = await startShell();
    expect(await write(`zap ${"x".repeat(40_000)}`)).toBe("success");
    expect(await write("x".repeat(40_000))).toBe("success");
    expect(await write("\n")).toBe("success");
    expect(asked).toMatchObject([{ cause: { kind: "too_complex" } }]);
  });

  it("is read as a terminal's keys leave it", async () => {
    for (const line of [
      "zapp\x7f x\r",
      "ls\x15zap x\n",
      "zap x\x04",
      "\x1b[200~zap x\x1b[201~\r",
      "zap x\x0f",
      "ls \x17\x17zap x\r",
    ]) {
      const { write } = await startShell({ tty: true });
      expect(await write(line), JSON.stringify(line)).toBe("forbidden");
    }
    const { write } = await startShell({ tty: true });
    for (const keys of ["\x03", "\x1b[A", ":wq\r", "q", "\t"]) expect(await write(keys)).toBe("success");
  });

  it.each([
    ["never", "accept", "forbidden"],
    ["on-request", "decline", "denied"],
    ["on-request", "cancel", "cancelled"],
  ] as const)("is refused under %s where a person would %s", async (approvalPolicy, answer, status) => {
    const { write, written } = await startShell({ approvalPolicy, answer });
    expect(await write("rm -rf x\n")).toBe(status);
    expect(written()).toEqual([]);
  });
});

describe("input of any other program", () => {
  it.each(["stay", "stay && python3", "stay & cat", "stay && psql"])("is judged by nobody: %j", async (cmd) => {
    const { write } = await startShell({ cmd });
    expect(await write("zap x\n")).toBe("success");
  });

  it.each([
    "stay && sudo -s",
    "stay && ssh h",
    "stay && exec zsh",
    "stay && su - user",
    "stay && docker run -i x sh",
    "stay && fish",
  ])("is a shell's where one is started by another program: %j", async (cmd) => {
    const { write } = await startShell({ cmd });
    expect(await write("zap x\n")).toBe("forbidden");
  });
});
