// Programs that a rule asks about wait where they start, whatever the text of the command shows.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuditLog, createFileSink } from "@codex/audit";
import { createNative } from "@codex/native";
import { type ApprovalDecision, type ApprovalRequest, OrchestratorError } from "@codex/orchestrator";
import { parseRulePolicy, type SaveRule } from "@codex/policy";
import { createLocalBackend } from "@codex/process-host";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLocalOrchestrator, type LocalOrchestratorOptions } from "../src/index.js";

const isLinux = process.platform === "linux";
const RULE = '["touch"] (default.rules:1)';
/** What it starts stands in a file. */
const HIDDEN = '"$(cat name)" made; echo "exit $?"';

type Answer = (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalDecision>;

function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-ask-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

interface OpenOptions extends Partial<LocalOrchestratorOptions> {
  saveRule?: SaveRule;
  rules?: string;
  mode?: "danger-full-access" | "workspace-write";
}

async function open(answer: Answer, options: OpenOptions = {}) {
  const {
    rules = 'prefix_rule(["touch"], decision="prompt")\n',
    mode = "workspace-write",
    saveRule,
    ...more
  } = options;
  const cwd = makeDirectory();
  writeFileSync(join(cwd, "name"), "touch");
  const policy = {
    approvalPolicy: "on-request" as const,
    sandbox: mode,
    rules: parseRulePolicy([{ file: "default.rules", text: rules }]),
    ...(saveRule === undefined ? {} : { saveRule }),
  };
  const questions: ApprovalRequest[] = [];
  const asked: ApprovalRequest[] = [];
  const approver = {
    requestApproval: (request: ApprovalRequest, { signal }: { signal: AbortSignal }) => {
      questions.push(request);
      if (!isProgram(request)) return Promise.resolve("accept" as const);
      asked.push(request);
      return answer(request, signal);
    },
  };
  const orchestrator = await createLocalOrchestrator({
    policy,
    approver,
    defaults: { login: false, cwd },
    ...more,
  });
  onTestFinished(() => orchestrator.close());
  const run = async (args: Record<string, unknown>) => {
    const result = await orchestrator.callTool("exec_command", { shell: "/bin/sh", workdir: cwd, ...args });
    if (result.isError) throw new Error(result.text);
    return result;
  };
  const listAsked = () => asked.map(({ command }) => command.join(" "));
  const hasMade = () => existsSync(join(cwd, "made"));
  return { orchestrator, cwd, run, questions, asked, listAsked, hasMade };
}

/** The script may be asked about as well, before it starts. */
const isProgram = ({ reason }: ApprovalRequest): boolean => /asks before the program/.test(reason);

describe.runIf(isLinux)("a program that a rule asks about", () => {
  it.each(["danger-full-access", "workspace-write"] as const)("starts once it is accepted, in %s", async (mode) => {
    for (const tty of [false, true]) {
      // Outside of a sandbox a gate is used only where a rule forbids.
      const rules = 'prefix_rule(["touch"], decision="prompt")\nprefix_rule(["curl"], decision="forbidden")\n';
      const { run, asked, listAsked, hasMade, cwd } = await open(async () => "accept", { mode, rules });
      const { text, structured } = await run({ cmd: HIDDEN, tty });
      expect(text).toContain("exit 0");
      expect(structured?.programs).toBeUndefined();
      expect(hasMade()).toBe(true);
      expect(listAsked()).toEqual(["touch made"]);
      const [question] = asked;
      expect(question).toMatchObject({ cwd, cause: { kind: "rule", rule: RULE } });
      expect(question?.sandbox === null).toBe(mode === "danger-full-access");
      expect(question?.reason).toMatch(
        /^a rule asks before the program \/\S*touch, which .*; rule \["touch"\] \(default\.rules:1\)$/s,
      );
    }
  });

  it("is refused where it is declined, and is asked about once for the whole PATH", async () => {
    const { run, asked, hasMade } = await open(async () => "decline");
    const { text, structured } = await run({ cmd: HIDDEN });
    expect(text).toContain("exit 126");
    expect(text).toContain(`Refused: touch made (rule ${RULE}, declined`);
    expect(structured?.programs).toMatchObject([{ decision: "refused", reason: "declined", rule: RULE }]);
    expect(hasMade()).toBe(false);
    expect(asked).toHaveLength(1);
  });

  it("is refused where nobody can be asked", async () => {
    const noApprover = new OrchestratorError("no_approver", "nobody is here");
    const { run, hasMade } = await open(() => Promise.reject(noApprover));
    const { text } = await run({ cmd: HIDDEN });
    expect(text).toContain("nobody could be asked");
    expect(hasMade()).toBe(false);
  });

  it("is not asked about again where the command was, and others of it are", async () => {
    const { run, listAsked, hasMade } = await open(async () => "accept");
    await run({ cmd: "touch made && touch other && cp name third" });
    expect(hasMade()).toBe(true);
    expect(listAsked()).toEqual([]);
    await run({ cmd: 'touch made; sh -c "$(cat name) other"' });
    expect(listAsked()).toEqual(["touch other"]);
  });

  it("that is dangerous is allowed by a rule for its words, which holds for the rest of the command and for others, inside", async () => {
    const saved: unknown[] = [];
    const saveRule: SaveRule = async (rule) => {
      saved.push(rule);
      return { file: "saved.rules", line: 1 };
    };
    const { run, listAsked, cwd } = await open(async () => "accept_and_save", { rules: "", saveRule });
    writeFileSync(join(cwd, "name"), "rm");
    const cmd = 'for time in 1 2; do : > made; "$(cat name)" -f made; test -e made || echo gone; done';
    expect((await run({ cmd })).text).toContain("gone\ngone\n");
    expect(listAsked()).toEqual(["rm -f made"]);
    expect(saved).toEqual([{ words: ["rm", "-f", "made"], keepsSandbox: true }]);
    const again = await run({ cmd });
    expect(again.text).toContain("gone\ngone\n");
    expect(again.structured?.programs).toBeUndefined();
    expect(listAsked()).toHaveLength(1);
    await run({ cmd: '"$(cat name)" -f other' });
    expect(listAsked()).toEqual(["rm -f made", "rm -f other"]);
  });

  it("waits in a shell that lines are typed into, which are refused only for what they spell out and a rule forbids", async () => {
    const rules = 'prefix_rule(["touch"], decision="prompt")\nprefix_rule(["curl"], decision="forbidden")\n';
    const { run, orchestrator, questions, listAsked, hasMade } = await open(async () => "accept", { rules });
    const { structured } = await run({ cmd: "exec sh", tty: true, yield_time_ms: 250 });
    const session = { session_id: structured?.processId, yield_time_ms: 10_000 };
    const write = (chars: string) => orchestrator.callTool("write_stdin", { ...session, chars });
    expect((await write("curl x\n")).status).toBe("forbidden");
    await write('eval "$(cat name) other"; touch made; exit 7\n');
    expect(hasMade()).toBe(true);
    expect(listAsked()).toEqual(["touch other", "touch made"]);
    expect(questions).toHaveLength(2);
  });

  it("is asked about with the line that is typed where the same words were approved with the shell's command", async () => {
    const { run, orchestrator, questions, listAsked } = await open(async () => "accept");
    const { structured } = await run({ cmd: "touch made; exec sh", tty: true, yield_time_ms: 250 });
    const session = { session_id: structured?.processId, yield_time_ms: 10_000 };
    const before = questions.length;
    await orchestrator.callTool("write_stdin", { ...session, chars: "cd /; touch made; exit\n" });
    expect(questions.slice(before).map(({ toolName }) => toolName)).toEqual(["write_stdin"]);
    expect(listAsked()).toEqual([]);
  });

  it("is asked about once for the session where it was accepted so", async () => {
    const { run, listAsked } = await open(async () => "accept_for_session");
    await run({ cmd: HIDDEN });
    await run({ cmd: `${HIDDEN}; ${HIDDEN}` });
    expect(listAsked()).toEqual(["touch made"]);
    await run({ cmd: '"$(cat name)" other' });
    expect(listAsked()).toEqual(["touch made", "touch other"]);
  });

  it("ends its command where the person ends the turn", async () => {
    const { run, hasMade } = await open(async () => "cancel");
    const { structured } = await run({ cmd: `${HIDDEN}; sleep 1000` });
    expect(structured?.outcome).toMatchObject({ kind: "signaled" });
    expect(hasMade()).toBe(false);
  });

  it("is withdrawn with its command", async () => {
    let withdrawn = () => {};
    const gone = new Promise<void>((resolve) => {
      withdrawn = resolve;
    });
    let asking = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asking = resolve;
    });
    const { orchestrator, run, hasMade } = await open((_, signal) => {
      asking();
      signal.addEventListener("abort", withdrawn);
      return new Promise(() => {});
    });
    const { structured } = await run({ cmd: `read go; ${HIDDEN}`, stdin: "open", yield_time_ms: 250 });
    const id = structured?.processId;
    void orchestrator.callTool("write_stdin", { session_id: id, chars: "go\n" });
    await isAsked;
    await orchestrator.callTool("kill_session", { session_id: id });
    await gone;
    expect(hasMade()).toBe(false);
  });

  it("raises a limited number of questions", async () => {
    const { run, asked } = await open(async () => "accept");
    const { structured } = await run({ cmd: "t=$(cat name); for i in $(seq 12); do $t made$i; done" });
    expect(asked).toHaveLength(8);
    expect(structured?.programs).toHaveLength(4);
    expect(structured?.programs?.[0]).toMatchObject({ decision: "refused", reason: "unasked" });
  });

  it("is recorded, with who decided", async () => {
    const file = join(makeDirectory(), "audit.jsonl");
    const log = createAuditLog({ sink: createFileSink(file, {}) });
    const { orchestrator, run } = await open(async () => "accept", { audit: { log } });
    await run({ cmd: HIDDEN });
    await orchestrator.close();
    await log.flush();
    const records = readFileSync(file, "utf8").trimEnd().split("\n");
    const approvals = records.map((line) => JSON.parse(line)).filter(({ type }) => type === "approval");
    expect(approvals.at(-1)).toMatchObject({ decision: "approved", by: "user" });
    const { argvSha256 } = records
      .map((line) => JSON.parse(line))
      .find(({ type, call }) => type === "call" && call === approvals.at(-1).call);
    expect(argvSha256).toBe(
      createHash("sha256")
        .update(JSON.stringify(["touch", "made"]))
        .digest("hex"),
    );
  });
});

describe.runIf(isLinux)("a script whose programs only show when it runs", () => {
  const every = async () => "accept" as const;

  it("is not asked about where no rule and no dangerous command matches a program of it", async () => {
    const { run, cwd, questions } = await open(every);
    writeFileSync(join(cwd, "name"), "ls");
    await run({ cmd: '"$(cat name)" --version >/dev/null; x=$(cat name); $x --help >/dev/null' });
    expect(questions).toEqual([]);
  });

  it("is asked about where it starts a dangerous command, and then only about that", async () => {
    const { run, cwd, questions, listAsked } = await open(async () => "decline", { rules: "" });
    mkdirSync(join(cwd, "sub"));
    writeFileSync(join(cwd, "name"), "rm");
    const { text } = await run({ cmd: '"$(cat name)" -rf sub; "$(cat name)" name' });
    expect(listAsked()).toEqual(["rm -rf sub"]);
    expect(questions).toHaveLength(1);
    expect(text).toContain("Refused: rm -rf sub (rule rm-force of the dangerous commands");
    expect([existsSync(join(cwd, "sub")), existsSync(join(cwd, "name"))]).toEqual([true, false]);
  });

  it("is asked about as a whole outside of a sandbox", async () => {
    const { run, questions } = await open(every, { mode: "danger-full-access", rules: "" });
    await run({ cmd: '"$(cat name)" other' });
    expect(questions.map(({ cause }) => cause.kind)).toEqual(["too_complex"]);
  });

  it("does not run where its programs cannot be judged any more", async () => {
    const native = new Proxy(createNative(), {
      get(target, name) {
        if (name !== "openGate") return Reflect.get(target, name);
        return () => Promise.reject(new Error("there is no gate"));
      },
    });
    const gate = { rules: [], hostExecutables: [], approved: [], required: true };
    const backend = createLocalBackend({ native });
    onTestFinished(() => backend.close());
    const spec = { argv: ["/bin/true"], cwd: "/", env: {}, stdio: { kind: "pipe", stdin: "null" }, gate } as const;
    await expect(backend.start(spec)).rejects.toThrow(
      /nothing was started: the programs .* cannot be judged: there is no gate/,
    );
    expect(await backend.openGate?.()).toBe("there is no gate");
  });
});
