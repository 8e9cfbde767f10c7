import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectStdio, createOrchestrator } from "@codex/orchestrator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codex, codexWords, useCommand } from "./support.js";

describe("codex executor with a ceiling", () => {
  const command = useCommand();
  let base: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "codex-ceiling-")));
    mkdirSync(join(base, "in"));
    symlinkSync("/", join(base, "in", "away"));
    writeFileSync(join(base, "file"), "");
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it.each([
    [["--max-sandbox", "workspace-write"], /--max-sandbox workspace-write needs --allowed-root/],
    [["--max-sandbox", "none"], /--max-sandbox <mode>.*'none' is invalid/],
    [["--allowed-root", "/not/there"], /--allowed-root "\/not\/there": there is no such directory/],
    [["--allowed-root", "FILE"], /--allowed-root ".*file": it is not a directory/],
    [["--max-network", "maybe"], /--max-network <on\|off>.*'maybe' is invalid/],
    [["--exec-server", "false", "--allowed-root", "rel"], /"rel": with --exec-server/],
    [
      ["--exec-server", "false", "--allowed-root", "/proc/self/cwd"],
      /"\/proc\/self\/cwd": with --exec-server it differs from process/,
    ],
  ])("%j is refused", async (args, expected) => {
    const { code, stderr } = await command.run([
      "executor",
      ...args.map((arg) => arg.replace("FILE", join(base, "file"))),
    ]);
    expect(stderr).toMatch(expected);
    expect(code).toBe(2);
  });

  it.each([
    ["here", []],
    ["behind an exec-server", ["--exec-server", `${codexWords} exec-server --listen stdio`]],
  ])("starts commands in its roots only, %s", async (_name, more) => {
    const args = [codex, "executor", "--allowed-root", join(base, "in"), ...more];
    const orchestrator = createOrchestrator({ policy: { approvalPolicy: "never", sandbox: "danger-full-access" } });
    try {
      const attached = await orchestrator.attach({
        name: "bounded",
        channel: connectStdio({ command: process.execPath, args }),
      });
      expect(attached.host?.sandbox?.ceiling).toEqual({
        mode: "danger-full-access",
        roots: [join(base, "in")],
        network: true,
      });
      const run = (cwd: string) => orchestrator.callTool("exec_command", { cmd: "pwd -P", login: false, workdir: cwd });
      expect((await run(join(base, "in"))).text).toContain(join(base, "in"));
      for (const cwd of ["/proc/self/cwd", "/proc/thread-self/cwd"]) {
        expect((await run(cwd)).text).toMatch(/differs from process to process.*not run/);
      }
      for (const cwd of [base, "/", join(base, "in", "away"), join(base, "in", "away", "etc")]) {
        expect((await run(cwd)).text).toMatch(/does not allow it: commands are started in .*not run/);
      }
    } finally {
      await orchestrator.close();
    }
  });
});
