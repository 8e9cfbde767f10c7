import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { NO_SSHD, type Sshd, startSshd } from "../../environments/test/ssh/sshd.js";
import { findExecutable } from "../src/find-executable.js";
import { Terminal } from "./pty.js";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();
const NO_VIM = findExecutable("vim") === undefined ? "" : ": skipped, vim is missing";

/** An ssh server, and an `ssh` in the PATH that knows it. */
async function start() {
  const sshd = await startSshd();
  const directory = mkdtempSync(join(tmpdir(), "over-ssh-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  mkdirSync(join(directory, "bin"));
  const words = sshd.ssh.map((word) => `'${word}'`).join(" ");
  writeFileSync(join(directory, "bin", "ssh"), `#!/bin/sh\nexec ${words} "$@"\n`);
  chmodSync(join(directory, "bin", "ssh"), 0o755);
  const env = { PATH: `${join(directory, "bin")}:${process.env.PATH}`, OPENAI_API_KEY: "sk-of-the-host" };
  return { sshd, directory, env, url: `ssh://127.0.0.1:${sshd.port}` };
}

/** Kills the ssh of the command as its network would: without a word. */
const cut = (sshd: Sshd): void => {
  for (const pid of sshd.listClients()) process.kill(pid, "SIGKILL");
};

describe.skipIf(NO_SSHD !== "")(`codex run over ssh${NO_SSHD}`, { timeout: 120_000 }, () => {
  it("brings the server along, says nothing of it without a terminal, and starts in the directory of the address", async () => {
    const { env, url, directory } = await start();
    const script = "pwd; env; cat; exit 3";
    for (const input of ["first", "second"]) {
      const child = command.start(["run", "--executor", `${url}${directory}`, "--", "sh", "-c", script], env);
      child.stdin.end(input);
      const { code, stdout, stderr } = await finish(child);
      expect([code, stderr]).toEqual([3, ""]);
      const text = stdout.toString();
      expect(text.startsWith(`${directory}\n`)).toBe(true);
      expect(text.endsWith(input)).toBe(true);
      expect(text).not.toContain("sk-of-the-host");
    }
  });

  it.skipIf(NO_VIM !== "")(`keeps vim while its connection is killed${NO_VIM}`, async () => {
    const { env, url, directory, sshd } = await start();
    const file = join(directory, "text");
    const words = ["run", "--tty", "--executor", url, "--", "vim", "-u", "NONE", "-i", "NONE", "-N", "-n", file];
    const terminal = new Terminal(process.execPath, [codex, ...words], { env: { ...env, TERM: "xterm" } });
    onTestFinished(() => terminal.kill());
    await terminal.shown("installing the server on");
    await terminal.shown("[New");
    terminal.type("ione\r");
    await terminal.shown("one");
    for (const word of ["two", "three"]) {
      cut(sshd);
      await terminal.shown("connection lost");
      terminal.type(`${word}\r`);
      await terminal.shown("connected again");
      await terminal.shown(word);
    }
    terminal.type("\u001b:wq\r");
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\nthree\n\n");
  });

  it("a program is left there and taken up again, by another command over another connection", async () => {
    const { env, url, directory } = await start();
    const go = join(directory, "go");
    const script = `echo begun; until [ -e ${go} ]; do sleep 0.05; done; echo done; exit 4`;
    const left = await finish(command.start(["run", "--executor", url, "--detach", "--", "sh", "-c", script], env));
    expect([left.code, left.stderr]).toEqual([0, ""]);
    writeFileSync(go, "");
    const id = left.stdout.toString().trim();
    const taken = await finish(command.start(["sessions", "attach", id, "--executor", url], env));
    expect([taken.code, taken.stderr, taken.stdout.toString()]).toEqual([4, "", "begun\ndone\n"]);
  });

  it("is an environment that needs no configuration", async () => {
    const { env, url, directory } = await start();
    const words = ["run", "--environment", `${url}${directory}`, "--", "pwd"];
    const child = command.start(words, { ...env, CODEX_HOME: directory });
    child.stdin.end();
    const { code, stdout, stderr } = await finish(child);
    expect([stdout.toString(), stderr, code]).toEqual([`${directory}\n`, "", 0]);
  });

  it("says what is wrong, and what to do", async () => {
    const { env, url, sshd } = await start();
    writeFileSync(join(sshd.directory, "user.pub"), "");
    const child = command.start(["run", "--executor", url, "--", "true"], env);
    child.stdin.end();
    const { code, stderr } = await finish(child);
    expect(code).toBe(125);
    expect(stderr).toMatch(/^codex: no executor at "ssh:.*Permission denied.*no key was accepted: see `ssh-add -l`/);
  });
});
