// A rule starts a program of a sandboxed command outside of the sandbox, whatever the text of the command shows.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuditLog, createFileSink } from "@codex/audit";
import type { ApprovalDecision, ApprovalRequest } from "@codex/orchestrator";
import { parseRulePolicy } from "@codex/policy";
import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLocalOrchestrator } from "../src/index.js";

const support = await createCommandSandbox().getSupport();
const canLeave = support.kind === "bubblewrap" && process.arch === "x64";

function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-outside-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function open(rules: (out: string) => string, decision: ApprovalDecision = "accept") {
  const top = makeDirectory();
  const [cwd, out] = [join(top, "ws"), join(top, "out")];
  for (const directory of [cwd, out]) mkdirSync(directory);
  writeFileSync(join(cwd, "name"), "touch");
  const asked: ApprovalRequest[] = [];
  const auditFile = join(top, "audit.jsonl");
  const log = createAuditLog({ sink: createFileSink(auditFile) });
  const orchestrator = await createLocalOrchestrator({
    policy: {
      approvalPolicy: "on-request",
      sandbox: "read-only", // which temporary directories are closed to as well
      rules: parseRulePolicy([{ file: "default.rules", text: rules(out) }]),
    },
    approver: {
      requestApproval: async (request: ApprovalRequest) => {
        asked.push(request);
        return decision;
      },
    },
    defaults: { login: false, cwd },
    audit: { log },
  });
  onTestFinished(() => orchestrator.close());
  const run = async (cmd: string) => {
    const args = { shell: "/bin/bash", workdir: cwd, cmd };
    const result = await orchestrator.callTool("exec_command", args);
    if (result.isError) throw new Error(result.text);
    return result;
  };
  const readAudit = async () => {
    await orchestrator.close();
    const lines = readFileSync(auditFile, "utf8").trim().split("\n");
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  return { run, cwd, out, asked, readAudit };
}

describe.runIf(canLeave)("a program that a rule starts outside", () => {
  it("runs there from a script that is held inside, and the result says so", async () => {
    const { run, out, asked, readAudit } = await open(() => 'prefix_rule(["touch"])\n');
    const { text, structured } = await run(
      `"$(cat name)" ${out}/f; echo $?; cp /dev/null ${out}/g 2>/dev/null; echo $?`,
    );
    expect(text).toContain(`Outside the sandbox: touch ${out}/f, exit 0 (rule ["touch"] (default.rules:1))`);
    expect(text).toMatch(/\n0\n1\n$/);
    expect(structured?.programs).toMatchObject([{ decision: "outside", reason: "rule", exitCode: 0 }]);
    expect([existsSync(join(out, "f")), existsSync(join(out, "g"))]).toEqual([true, false]);
    expect(asked).toEqual([]);
    const program = (await readAudit()).find(({ type }) => type === "program");
    expect(program).toMatchObject({ decision: "outside", reason: "rule", exitCode: 0 });
  });

  it("can do what the rule adds, also where the command is nothing else", async () => {
    const { run, out, asked } = await open((path) => `prefix_rule(["touch"], outside={"write": ["${path}"]})\n`);
    const { text } = await run(`touch ${out}/f`);
    expect(text).toContain("Outside the sandbox: touch");
    const second = await run(`touch ${out}/../g; echo "exit $?"`);
    expect(second.text).toContain("exit 1");
    expect([existsSync(join(out, "f")), existsSync(join(out, "../g"))]).toEqual([true, false]);
    expect(asked).toEqual([]);
  });

  it("is asked about, with where it would run, and runs there once it is accepted", async () => {
    const { run, out, asked } = await open(
      (path) => `prefix_rule(["touch"], decision="prompt", outside={"write": ["${path}"]})\n`,
    );
    const { text } = await run(`"$(cat name)" ${out}/f; echo "exit $?"`);
    expect(text).toContain("exit 0");
    expect(existsSync(join(out, "f"))).toBe(true);
    const [question, ...others] = asked.filter(({ reason }) => reason.includes("asks before the program"));
    expect(others).toEqual([]);
    expect(question?.reason).toContain(`with write access to ${out}, and otherwise as restricted as before`);
    expect(JSON.stringify(question?.sandbox)).toContain(`"path":"${out}"`);
  });

  it("runs where its rule says after its command was approved", async () => {
    const { run, out, asked } = await open(
      (path) => `prefix_rule(["touch"], decision="prompt", outside={"write": ["${path}"]})\n`,
    );
    const { text } = await run(`touch ${out}/f`);
    expect(text).toContain("Outside the sandbox: touch");
    expect(asked.map(({ reason }) => reason)).toEqual([
      expect.stringContaining(`which then runs with write access to ${out}`),
    ]);
    expect(existsSync(join(out, "f"))).toBe(true);
  });

  it("gets no variable of its caller that chooses code, and the result names it", async () => {
    const { run, out } = await open(() => 'prefix_rule(["env"], outside="network")\n');
    const { text } = await run(`x=env; FOO=1 LD_AUDIT=${out}/evil.so $x | grep -c -e FOO -e LD_AUDIT`);
    expect(text).toMatch(/Outside the sandbox: env.*without (?:FOO, LD_AUDIT|LD_AUDIT, FOO)/);
    expect(text).toMatch(/\n0\n$/);
  });
});
