import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLocalOrchestrator } from "@codex/local";
import type { ApprovalDecision, ApprovalRequest } from "@codex/orchestrator";
import { describe, expect, it, onTestFinished } from "vitest";

const isLinux = process.platform === "linux";

async function open() {
  const root = await realpath(await mkdtemp(join(tmpdir(), "codex-typed-")));
  await mkdir(join(root, "inner/build"), { recursive: true });
  const asked: ApprovalRequest[] = [];
  const answers: ApprovalDecision[] = [];
  const orchestrator = await createLocalOrchestrator({
    defaults: { cwd: root },
    policy: { approvalPolicy: "on-request", sandbox: "danger-full-access" },
    approver: {
      async requestApproval(request) {
        asked.push(request);
        return answers.shift() ?? "accept_for_session";
      },
    },
  });
  onTestFinished(async () => {
    await orchestrator.close();
    await rm(root, { recursive: true, force: true });
  });
  const call = async (name: string, args: object) => orchestrator.callTool(name, args);
  const start = async (more: object) => {
    const cmd = 'env -i PATH="$PATH" PS1="$ " HISTFILE= INPUTRC=/dev/null bash --norc --noprofile -i';
    const started = await call("exec_command", { cmd, login: false, yield_time_ms: 3000, until: "prompt", ...more });
    const { processId: id } = started.structured as { processId?: number }; // as the tool has it
    if (id === undefined) throw new Error(started.text);
    return async (chars: string, yield_time_ms = 3000) =>
      (await call("write_stdin", { session_id: id, chars, yield_time_ms, until: "prompt" })).status;
  };
  return { root, asked, answers, start };
}

describe.skipIf(!isLinux).each([
  ["on pipes", { stdin: "open" }],
  ["at a terminal", { tty: true }],
])("a question about a line that is typed into a shell %s", (_, stdio) => {
  it("shows where the shell is, and a decision for the session is about this shell there", async () => {
    const { root, asked, start } = await open();
    const first = await start(stdio);
    await first("rm -rf build\n");
    await first("rm -rf build\n");
    expect(asked.map(({ cwd }) => cwd)).toEqual([root]);
    await first("cd inner\n");
    await first("rm -rf build\n");
    expect(asked.map(({ cwd }) => cwd)).toEqual([root, join(root, "inner")]);
    const second = await start(stdio);
    await second("rm -rf build\n");
    expect(asked.map(({ cwd }) => cwd)).toEqual([root, join(root, "inner"), root]);
  });

  it("says that the directory may be another while the shell is busy, and is then about nothing else", async () => {
    const { root, asked, answers, start } = await open();
    answers.push("accept", "accept");
    const type = await start(stdio);
    for (const line of ["sleep 60\n", "rm -rf build\n", "rm -rf build\n"]) await type(line, 250);
    expect(asked).toHaveLength(2);
    for (const { cwd, reason, availableDecisions } of asked) {
      expect([cwd, availableDecisions]).toEqual([root, ["accept", "decline", "cancel"]]);
      expect(reason).toMatch(/may be elsewhere by now/);
    }
  });
});

it.skipIf(!isLinux)("a key that is not followed is asked about before the shell runs what it makes of it", async () => {
  const { asked, answers, start } = await open();
  const type = await start({ tty: true });
  for (const keys of ["RM\x1bb\x1bl -rf build\r", "rm -rf build\x18\x05", "rm -rf build\x1b#", "\x1b[A\r", "r\t"]) {
    answers.push("decline");
    const before = asked.length;
    expect(await type(keys), JSON.stringify(keys)).toBe("denied");
    expect(asked.length, JSON.stringify(keys)).toBe(before + 1);
    expect(asked.at(-1)?.reason).toMatch(/what the key .* does is not followed|rm/);
  }
  expect(await type("echo ok\x7f\x01\x05k\r")).toBe("success");
});
