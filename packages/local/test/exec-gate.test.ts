// Rules that forbid are held where programs start, whatever the text of the command shows.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuditLog, createFileSink } from "@codex/audit";
import { parseRulePolicy } from "@codex/policy";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "../src/index.js";

const isLinux = process.platform === "linux";
const FORBIDDEN = 'prefix_rule(pattern=["touch"], decision="forbidden", justification="use the editor")\n';
const RULE = '["touch"] (default.rules:1): use the editor';
/** A shell goes on through PATH. */
const TIMES = expect.any(Number);
/** What it starts stands in a file. */
const HIDDEN = '"$(cat name)" made; echo "exit $?"';

function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-gate-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function open(
  sandbox: "danger-full-access" | "workspace-write",
  { rules = FORBIDDEN, ...more }: OpenOptions = {},
) {
  const cwd = makeDirectory();
  writeFileSync(join(cwd, "name"), "touch");
  const policy = {
    approvalPolicy: "on-request" as const,
    sandbox,
    rules: parseRulePolicy([{ file: "default.rules", text: rules }]),
  };
  const approver = { requestApproval: async () => "accept" as const };
  const options = { approver, defaults: { login: false, cwd }, ...more };
  const orchestrator = await createLocalOrchestrator({ policy, ...options });
  onTestFinished(() => orchestrator.close());
  const run = async (args: Record<string, unknown>) => {
    const result = await orchestrator.callTool("exec_command", { shell: "/bin/sh", workdir: cwd, ...args });
    if (result.isError) throw new Error(result.text);
    return result;
  };
  return { orchestrator, cwd, run };
}

type OpenOptions = Partial<LocalOrchestratorOptions> & { rules?: string };

describe.runIf(isLinux)("a program that a rule forbids", () => {
  it.each(["danger-full-access", "workspace-write"] as const)("is refused where it starts, in %s", async (sandbox) => {
    const { cwd, run } = await open(sandbox);
    for (const tty of [false, true]) {
      const { text, structured } = await run({ cmd: HIDDEN, tty });
      expect(text).toContain(`\nRefused: touch made (rule ${RULE}`);
      expect(text).toContain("exit 126");
      expect(text).not.toContain("the sandbox may be the cause");
      const report = { program: expect.stringMatching(/\/touch$/), argv: ["touch", "made"], decision: "refused" };
      expect(structured?.programs).toEqual([{ ...report, reason: "rule", rule: RULE, times: TIMES }]);
      expect(existsSync(join(cwd, "made"))).toBe(false);
    }
  });

  it("is refused however deep it starts, and others run", async () => {
    const { cwd, run } = await open("danger-full-access");
    const cmd = "find . -maxdepth 0 -exec sh -c 'echo made | xargs env $(cat name)' \\;; echo done";
    const { text } = await run({ cmd });
    expect(text).toContain(`\nRefused: touch made (rule ${RULE}`);
    expect(text).toContain("done");
    expect(existsSync(join(cwd, "made"))).toBe(false);
  });

  it("is told with the result that follows it, once", async () => {
    const { orchestrator, run } = await open("danger-full-access");
    const { structured } = await run({ cmd: `read go; ${HIDDEN}; read end`, stdin: "open", yield_time_ms: 250 });
    expect(structured?.programs).toBeUndefined();
    const write = async (chars: string) => {
      const args = { session_id: structured?.processId, chars, until: chars === "go\n" ? "output" : "exit" };
      const result = await orchestrator.callTool("write_stdin", args);
      return result.isError ? undefined : result.structured?.programs?.map(({ argv }) => argv);
    };
    const told = [await write("go\n"), await write("end\n")].flatMap((programs) => programs ?? []);
    expect(told).toEqual([["touch", "made"]]);
  });

  it("is recorded", async () => {
    const file = join(makeDirectory(), "audit.jsonl");
    const log = createAuditLog({ sink: createFileSink(file, {}) });
    const { orchestrator, run } = await open("danger-full-access", { audit: { log } });
    await run({ cmd: HIDDEN });
    await orchestrator.close();
    await log.flush();
    const records = readFileSync(file, "utf8").trimEnd().split("\n");
    const programs = records
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ type }) => type === "program");
    expect(programs).toEqual([
      expect.objectContaining({ decision: "refused", reason: "rule", rule: RULE, times: TIMES }),
    ]);
  });

  it("is started where nothing is forbidden", async () => {
    const { cwd, run } = await open("danger-full-access", { rules: "" });
    const { text, structured } = await run({ cmd: HIDDEN });
    expect(text).toContain("exit 0");
    expect(structured?.programs).toBeUndefined();
    expect(existsSync(join(cwd, "made"))).toBe(true);
  });
});
