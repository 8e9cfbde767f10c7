import { PassThrough } from "node:stream";
import type { ApprovalRequest } from "@codex/orchestrator";
import { afterEach, describe, expect, it } from "vitest";
import { createTerminalApprover } from "../../src/approvals/terminal-approver.js";

const REQUEST: ApprovalRequest = {
  id: "1",
  toolName: "exec_command",
  environment: "main",
  command: ["bash", "-c", "make"],
  plainCommands: [["make"]],
  cwd: "/srv",
  tty: false,
  reason: "because",
  cause: { kind: "policy" },
  justification: null,
  sandboxPermissions: "use_default",
  additionalPermissions: null,
  sandbox: null,
  afterDenial: null,
  proposedAmendment: ["make"],
  availableDecisions: ["accept", "accept_for_session", "accept_and_save", "decline", "cancel"],
};

/** A terminal without a screen: what is typed, and what was painted so far. */
function openTerminal() {
  const input = Object.assign(new PassThrough(), { isTTY: true });
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  let painted = "";
  let wake = () => {};
  output.on("data", (data: Buffer) => {
    painted += data.toString();
    wake();
  });
  return {
    terminal: { input, output },
    /** Waits for a question, forgets what was painted up to it, and types. */
    async answer(question: string, text: string): Promise<string> {
      for (;;) {
        const at = painted.indexOf(question);
        if (at !== -1) {
          const before = painted.slice(0, at);
          painted = painted.slice(at + question.length);
          input.write(`${text}\n`);
          return before;
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close() {
      input.destroy();
      output.destroy();
    },
  };
}

describe("an answer at the terminal", () => {
  let screen = openTerminal();
  afterEach(() => {
    screen.close();
    screen = openTerminal();
  });
  const ask = (part: Partial<ApprovalRequest> = {}, signal = new AbortController().signal) =>
    createTerminalApprover("/rules", screen.terminal).requestApproval({ ...REQUEST, ...part }, { signal });

  it.each(["stop", "abort", "skip", "exit", "y?", "yesterday", "absolutely not", "", "*", "ｙ", "yy", "Y N"])(
    "%j is none, and is asked again",
    async (text) => {
      const decision = ask();
      await screen.answer("[q]uit: ", text);
      await screen.answer("[q]uit: ", "no");
      expect(await decision).toBe("decline");
    },
  );

  it.each([
    ["Y", "accept"],
    [" yes ", "accept"],
    ["s", "accept_for_session"],
    ["session", "accept_for_session"],
    ["a", "accept_and_save"],
    ["allow", "accept_and_save"],
    ["n", "decline"],
    ["quit", "cancel"],
  ])("%j is %s", async (text, expected) => {
    const decision = ask();
    await screen.answer("[q]uit: ", text);
    expect(await decision).toBe(expected);
  });

  it("is for one question, and for the one that is seen", async () => {
    const approver = createTerminalApprover("/rules", screen.terminal);
    const { signal } = new AbortController();
    const given = new AbortController();
    const decisions = [
      approver.requestApproval({ ...REQUEST, cwd: "/first" }, { signal }),
      approver.requestApproval({ ...REQUEST, cwd: "/withdrawn" }, { signal: given.signal }),
      approver.requestApproval({ ...REQUEST, cwd: "/second" }, { signal }),
    ];
    const withdrawn = expect(decisions[1]).rejects.toThrow(/abort/i);
    given.abort();
    const first = await screen.answer("[q]uit: ", "y");
    expect(first).toContain("/first");
    expect(first).not.toContain("/second");
    expect(await decisions[0]).toBe("accept");
    const second = await screen.answer("[q]uit: ", "n");
    expect(second).toContain("/second");
    expect(second).not.toContain("/withdrawn");
    expect(await decisions[2]).toBe("decline");
    await withdrawn;
  });

  it("can be put off until all of a long command was seen", async () => {
    const script = Array.from({ length: 100 }, (_value, at) => `echo line ${at + 1}`).join("\n");
    const decision = ask({ command: ["bash", "-c", script] });
    const shown = await screen.answer("[q]uit: ", "v");
    expect(shown).toContain("[v]iew all");
    expect(shown).toContain("echo line 1\n");
    expect(shown).not.toContain("echo line 50\n");
    let seen = "";
    for (let page = 0; page < 4; page += 1) seen += await screen.answer("[b]ack: ", "");
    seen += await screen.answer("[q]uit: ", "y");
    for (let line = 1; line < 100; line += 1) expect(seen).toContain(`echo line ${line}\n`);
    expect(await decision).toBe("accept");
  });

  it("is not offered to be put off where all is seen", async () => {
    const decision = ask({});
    expect(await screen.answer("[q]uit: ", "v")).not.toContain("[v]iew");
    await screen.answer("[q]uit: ", "n");
    expect(await decision).toBe("decline");
  });

  it("is not typed by the rule that is to be edited", async () => {
    const words = ["wc", "x\ny\ny\n"];
    const decision = ask({ proposedAmendment: words, plainCommands: [words] });
    await screen.answer("[q]uit: ", "e");
    await screen.answer("(nothing goes back): ", "wc");
    const shown = await screen.answer("[b]ack: ", "yes");
    expect(shown).toContain('rule to save prefix_rule(pattern=["wc"], decision="allow")');
    expect(await decision).toEqual({ decision: "accept_and_save", rule: ["wc"] });
  });
});
