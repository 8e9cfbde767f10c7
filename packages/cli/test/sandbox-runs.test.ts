import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryChannelPair } from "@codex/channel";
import { createExecutor } from "@codex/executor";
import { type ApprovalRequest, connectStdio, createOrchestrator, type Orchestrator } from "@codex/orchestrator";
import { type ApprovalPolicy, createSandboxSelector, type SandboxSettings } from "@codex/policy";
import { createLocalBackend } from "@codex/process-host";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codex } from "./support.js";

const probe = createLocalBackend();
const support = (await probe.getSandboxSupport?.()) ?? { kind: "none", problem: "no sandbox is built in" };
await probe.close();

/** The exit codes of a refused redirection differ between shells: 1 from bash, 2 from dash. */
const BASH = { shell: "bash", login: false };

describe.skipIf(support.kind === "none")(`commands in a real sandbox (skipped: ${support.problem ?? "not"})`, () => {
  let base: string;
  const opened: Orchestrator[] = [];
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "codex-sandbox-")));
    for (const name of ["work", "out", "secret"]) mkdirSync(join(base, name));
    writeFileSync(join(base, "secret", "key"), "private");
  });
  afterEach(async () => {
    for (const orchestrator of opened.splice(0)) await orchestrator.close();
    rmSync(base, { recursive: true, force: true });
  });
  const inWork = (name: string) => join(base, "work", name);
  const out = (name: string) => join(base, "out", name);

  interface Given {
    policy?: ApprovalPolicy;
    settings?: Partial<SandboxSettings>;
    channel?: "memory" | "stdio";
    executorArgs?: string[];
  }
  async function start({ policy = "never", settings, channel = "memory", executorArgs = [] }: Given = {}) {
    const asked: ApprovalRequest[] = [];
    const sandbox = createSandboxSelector({
      mode: "workspace-write",
      // The directories of the tests are temporary ones themselves.
      excludeSlashTmp: true,
      excludeTmpdirEnvVar: true,
      denyRead: [join(base, "secret")],
      ...settings,
    });
    const orchestrator = createOrchestrator({
      policy: { approvalPolicy: policy, sandbox },
      approver: {
        async requestApproval(request) {
          asked.push(request);
          return "accept";
        },
      },
      defaults: { cwd: join(base, "work"), allowAdditionalPermissions: true },
    });
    opened.push(orchestrator);
    await orchestrator.attach({ name: "main", channel: open(channel, executorArgs) });
    const run = (cmd: string, more: object = {}) => orchestrator.callTool("exec_command", { cmd, ...BASH, ...more });
    return { run, asked, orchestrator };
  }
  function open(channel: "memory" | "stdio", args: readonly string[]) {
    if (channel === "stdio") return connectStdio({ command: process.execPath, args: [codex, "executor", ...args] });
    const [ours, its] = createMemoryChannelPair();
    void createExecutor({ backend: () => createLocalBackend() }).serve(its);
    return ours;
  }

  it.each(["memory", "stdio"] as const)("write in the workspace, and nowhere else, over %s", async (channel) => {
    const { run } = await start({ channel });
    const result = await run(`echo in > inside; echo out > ${out("f")}; cat ${join(base, "secret", "key")}; pwd`);
    expect(readFileSync(inWork("inside"), "utf8")).toBe("in\n");
    expect(existsSync(out("f"))).toBe(false);
    expect(result.text).not.toContain("private");
    expect(result.text).toContain(join(base, "work"));
  });

  it("write nothing where they may only read", async () => {
    const { run } = await start({ settings: { mode: "read-only" } });
    expect((await run("echo x > inside && echo wrote")).text).not.toMatch(/^wrote$/m);
    expect(existsSync(inWork("inside"))).toBe(false);
  });

  it("do not make the directory writable that they name", async () => {
    const { run } = await start();
    await run("echo x > f", { workdir: join(base, "out") });
    expect(existsSync(out("f"))).toBe(false);
  });

  it("write what extra permissions open, in that command only", async () => {
    const { run, asked } = await start({ policy: "on-request" });
    const more = {
      sandbox_permissions: "with_additional_permissions",
      additional_permissions: { file_system: { write: [join(base, "out")] } },
    };
    await run(`echo one > ${out("one")}`, more);
    await run(`echo two > ${out("two")}`);
    expect(asked).toHaveLength(1);
    expect([existsSync(out("one")), existsSync(out("two"))]).toEqual([true, false]);
  });

  it.each<[ApprovalPolicy, boolean]>([
    ["on-failure", true],
    ["never", false],
    ["on-request", false],
  ])("that were stopped run again outside after an approval: under %s %s", async (policy, isAsked) => {
    const { run, asked } = await start({ policy });
    const result = await run(`echo half >> inside; echo x > ${out("f")}`);
    expect(result.structured).toMatchObject(isAsked ? { exitCode: 0 } : { exitCode: 1, sandboxDenial: {} });
    expect(asked.map(({ afterDenial }) => afterDenial?.exitCode)).toEqual(isAsked ? [1] : []);
    expect(existsSync(out("f"))).toBe(isAsked);
    expect(readFileSync(inWork("inside"), "utf8")).toBe(isAsked ? "half\nhalf\n" : "half\n");
  });

  it("that were stopped long after their start are asked about, too", async () => {
    const { run, asked, orchestrator } = await start({ policy: "on-failure" });
    const started = await run(`read line; echo $line > ${out("f")}`, { stdin: "open", yield_time_ms: 250 });
    const { processId } = started.structured as { processId: number };
    const result = await orchestrator.callTool("write_stdin", { session_id: processId, chars: "x\n", until: "exit" });
    expect(asked).toHaveLength(1);
    expect(result.text).toMatch(/second run, outside/);
  });

  describe("with git", () => {
    const git = (...args: string[]) => execFileSync("git", ["-C", join(base, "work"), ...args], { encoding: "utf8" });
    const common = () => inWork(".git");
    beforeEach(() => {
      git("init", "-q", "-b", "main");
      git("config", "user.email", "a@example.com");
      git("config", "user.name", "a");
      git("commit", "-q", "--allow-empty", "-m", "zero");
    });
    const startOpen = (gitDirectory = common()) => {
      const gitDirectories = () => ({ gitDirectory, commonDirectory: common() });
      return start({ settings: { allowGitCommit: true, gitDirectories } });
    };

    it("commit, and plant nothing that git runs or trusts", async () => {
      const before = readFileSync(join(common(), "config"), "utf8");
      const { run } = await startOpen();
      const result = await run("echo 1 > f && git add f && git commit -qm first && git status");
      expect(result.structured).toMatchObject({ exitCode: 0 });
      expect(git("log", "--format=%s")).toBe("first\nzero\n");
      for (const attempt of [
        "echo x > .git/hooks/pre-commit",
        "mv .git/hooks .git/h",
        "git config core.pager x",
        "echo x >> .git/config",
        "mv .git .g",
        "echo /tmp > .git/commondir",
        "rm -f .git/commondir && echo /tmp > .git/commondir",
        "mv .git/commondir .git/c",
        "mkdir -p .git/modules/m",
        "mkdir -p .git/worktrees/w",
        "ln -s /tmp .git/config.worktree",
      ]) {
        expect((await run(attempt)).structured, attempt).not.toMatchObject({ exitCode: 0 });
      }
      expect(readFileSync(join(common(), "config"), "utf8")).toBe(before);
      for (const name of ["commondir", "hooks/pre-commit", "modules", "worktrees", "config.worktree"]) {
        expect(existsSync(join(common(), name)), name).toBe(false);
      }
      const closed = await (await start()).run("git commit --allow-empty -m second");
      expect(closed.structured).not.toMatchObject({ exitCode: 0 });
    });

    it("leave git outside as it was while they run, and stay closed when another one ends", async () => {
      const { run, orchestrator } = await startOpen();
      const script = "echo ready; read line; echo /tmp > .git/commondir";
      const first = await run(script, { stdin: "open", until: "output" });
      const { processId } = first.structured as { processId: number };
      expect(git("log", "--format=%s")).toBe("zero\n");
      expect((await run("git commit -q --allow-empty -m second")).structured).toMatchObject({ exitCode: 0 });
      const last = await orchestrator.callTool("write_stdin", { session_id: processId, chars: "\n", until: "exit" });
      expect(last.structured).toMatchObject({ outcome: { kind: "exited", code: 1 } });
      expect(git("log", "--format=%s")).toBe("second\nzero\n");
      expect(existsSync(join(common(), "commondir"))).toBe(false);
    });

    it("commit in a worktree, whose file stays what it is", async () => {
      const tree = out("tree");
      git("worktree", "add", "-q", tree);
      const gitDirectory = join(common(), "worktrees", "tree");
      const gitDirectories = () => ({ gitDirectory, commonDirectory: common() });
      const settings = { allowGitCommit: true, gitDirectories };
      const { orchestrator } = await start({ settings });
      const run = (cmd: string) => orchestrator.callTool("exec_command", { cmd, ...BASH }, { cwd: tree });
      const committed = await run("echo 1 > f && git add f && git commit -qm inside");
      expect(committed.structured).toMatchObject({ exitCode: 0 });
      expect(git("log", "--format=%s", "tree")).toBe("inside\nzero\n");
      for (const attempt of [
        "echo 'gitdir: /tmp' > .git",
        "rm .git",
        `echo x > ${join(common(), "hooks", "post-commit")}`,
        `echo /tmp > ${join(gitDirectory, "commondir")}`,
        `echo x > ${join(common(), "HEAD")}`,
      ]) {
        expect((await run(attempt)).structured, attempt).not.toMatchObject({ exitCode: 0 });
      }
    });
  });
});
