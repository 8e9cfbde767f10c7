// Programs that are left running on an executor, and taken up again at another terminal.

import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Terminal } from "../pty.js";
import { codex, codexWords, useCommand } from "../support.js";

const command = useCommand();
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-detach-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

async function leave(url: string, ...words: string[]): Promise<string> {
  const left = await command.run(["run", "--executor", url, "--detach", ...words]);
  expect(left).toMatchObject({ code: 0, stderr: "" });
  expect(left.stdout.toString()).toMatch(/^\d+\n$/);
  return left.stdout.toString().trim();
}

/** `codex sessions attach` at a terminal of its own, whose settings are printed before and after it. */
function attach(url: string, id: string, size = { rows: 24, cols: 80 }) {
  const script = `stty -g; ${codexWords} sessions attach ${id} --executor ${url}; echo "code $?"; stty -g; echo end`;
  const terminal = new Terminal("/bin/sh", ["-c", script], { size, env: { CODEX_HOME: home } });
  onTestFinished(() => terminal.kill());
  return terminal;
}

/** Waits for the end, and checks that the terminal is as it was. */
async function untilLeft(terminal: Terminal, code = 0): Promise<void> {
  await terminal.ended;
  const { output } = terminal;
  const settings = output.match(/^[0-9a-f]+(?::[0-9a-f]+){10,}\r$/gm) ?? [];
  expect(settings).toHaveLength(2);
  expect(settings[1]).toBe(settings[0]);
  expect(output).toContain(`code ${code}\r\n`);
  expect(output.lastIndexOf("\x1b[?1049l")).toBeGreaterThan(output.lastIndexOf("\x1b[?1049h"));
  expect(output.lastIndexOf("\x1b[?25h")).toBeGreaterThan(output.lastIndexOf("\x1b[?25l"));
}

describe("codex run --detach", () => {
  it("leaves a program that goes on, whose end and output are known later", async () => {
    const { url } = await command.listen(["--resume-grace", "0"]);
    const id = await leave(url, "--", "sh", "-c", "echo begun; sleep 1; echo done; exit 3");
    const listed = await command.run(["sessions", "list", "--executor", url]);
    expect(listed.stdout.toString()).toContain(`session ${id}: running`);
    const attached = await command.run(["sessions", "attach", id, "--executor", url]);
    expect(attached).toMatchObject({ code: 3, stderr: "" });
    expect(attached.stdout.toString()).toBe("begun\ndone\n");
    const again = await command.run(["sessions", "attach", id, "--executor", url]);
    expect(again).toMatchObject({ code: 3 });
    expect(again.stdout.toString()).toBe("begun\ndone\n");
  });

  it("no more are left than the executor keeps, and those that have ended make room", async () => {
    const { url } = await command.listen(["--max-sessions", "2"]);
    const first = await leave(url, "--", "sleep", "600");
    await leave(url, "--", "sleep", "600");
    const more = () => command.run(["run", "--executor", url, "--detach", "--", "sleep", "600"]);
    expect(await more()).toMatchObject({
      code: 126,
      stderr: expect.stringContaining("2 detached sessions run, which is the limit"),
    });
    await command.run(["sessions", "kill", first, "--executor", url]);
    expect(await more()).toMatchObject({ code: 0 });
  });

  it("an executor that is asked to end also ends what was left", async () => {
    const { child, url } = await command.listen();
    await leave(url, "--", "sh", "-c", `trap 'echo asked > ${home}/asked; exit' TERM; while :; do sleep 0.05; done`);
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
    expect(readFileSync(join(home, "asked"), "utf8")).toBe("asked\n");
  });

  it.each([
    [[], "--detach needs --executor or --environment"],
    [["--executor", "codex executor"], "--detach needs an executor that stays"],
  ])("%j is refused: %s", async (place, problem) => {
    const refused = await command.run(["run", "--detach", ...place, "--", "true"]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
  });
});

describe("codex sessions attach at a terminal", () => {
  it("vim goes on at another size, what is typed arrives once, and the terminal is left as it was", async () => {
    const { url } = await command.listen(["--resume-grace", "0"]);
    const file = join(home, "text");
    const id = await leave(url, "--tty", "--", "vim", "-u", "NONE", "-i", "NONE", "-n", file);
    const first = attach(url, id);
    await first.shown("~\x1b[0m\r\r\n");
    first.type("ione");
    await first.shown("\x1b[2Jone\r");
    first.type("\r~.");
    await untilLeft(first);
    expect(first.output).toContain(`session ${id} keeps running`);
    const second = attach(url, id, { rows: 40, cols: 120 });
    // As many rows as this terminal has.
    await second.shown(`\x1b[2Jone\r\r\n\r\r\n${"\x1b[1;38;5;4m~\x1b[0m\r\r\n".repeat(36)}`);
    second.type("two\x1b:wq\r");
    await untilLeft(second);
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
  });

  it("~? lists the keys, ~~ is one ~, and ~ in a line is no key", async () => {
    const { url } = await command.listen();
    const id = await leave(
      url,
      "--tty",
      "--",
      "sh",
      "-c",
      'stty -echo; echo ready; while read line; do echo "[$line]"; done',
    );
    const terminal = attach(url, id);
    await terminal.shown("ready");
    terminal.type("~?");
    await terminal.shown("suspend this command");
    terminal.type("~~.\r");
    await terminal.shown("[~.]");
    terminal.type("a~.\r");
    await terminal.shown("[a~.]");
    terminal.type("~.");
    await untilLeft(terminal);
  });

  it("a session whose owner has gone is kept once it was taken up", async () => {
    const { url } = await command.listen(["--resume-grace", "0"]);
    const words = [codex, "run", "--executor", url, "--tty", "--", "cat"];
    const owner = new Terminal(process.execPath, words, { env: { CODEX_HOME: home } });
    owner.type("hello\r");
    await owner.shown("hello");
    const listed = await command.run(["sessions", "list", "--executor", url]);
    const [, id = ""] = /session (\d+): running/.exec(listed.stdout.toString()) ?? [];
    const taken = attach(url, id);
    await taken.shown("hello");
    owner.kill("SIGKILL");
    await owner.ended;
    taken.type("still\r");
    await taken.shown("still\r\r\nstill");
    taken.type("\x04");
    await untilLeft(taken);
  });
});

describe("codex run at a terminal", () => {
  it("~? lists the keys, and ~. hangs the program up and leaves, on a healthy connection", async () => {
    const { url } = await command.listen();
    const asked = join(home, "hung-up");
    const script = `trap 'echo yes > ${asked}; exit 9' HUP; stty -echo; echo ready; while read line; do echo "[$line]"; done`;
    const words = [codex, "run", "--executor", url, "--tty", "--", "sh", "-c", script];
    const terminal = new Terminal(process.execPath, words, { env: { CODEX_HOME: home } });
    onTestFinished(() => terminal.kill());
    await terminal.shown("ready");
    terminal.type("~?");
    await terminal.shown("the program is hung up");
    terminal.type("~~x\r");
    await terminal.shown("[~x]");
    terminal.type("~.");
    // It ended by itself, as the hang-up asked it to.
    expect((await terminal.ended).code).toBe(9);
    expect(existsSync(asked)).toBe(true);
  });

  it("~^Z suspends it with the terminal as it was, and it goes on afterwards", async () => {
    const { url } = await command.listen();
    const script = `set -m; ${codexWords} run --executor ${url} --tty -- sh -c 'stty -echo; echo ready; read line; echo "[$line]"'; echo suspended; stty -a | grep -o -- "-*icanon"; fg; echo "code $?"`;
    const terminal = new Terminal("/bin/bash", ["-c", script], { env: { CODEX_HOME: home } });
    onTestFinished(() => terminal.kill());
    await terminal.shown("ready");
    terminal.type("~\x1a");
    await terminal.shown("suspended");
    await terminal.shown("icanon");
    expect(terminal.output).not.toContain("-icanon");
    terminal.type("on\r");
    await terminal.shown("[on]");
    await terminal.shown("code 0");
  });
});

describe("a program that is left on an exec-server", () => {
  const serve = async () => {
    const server = command.start(["exec-server", "--listen", "ws://127.0.0.1:0", "--resume-grace", "60"]);
    const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    return url;
  };

  it("goes on, and its output and end are known later", async () => {
    const url = await serve();
    const left = await command.run([
      "run",
      "--executor",
      url,
      "--detach",
      "--",
      "sh",
      "-c",
      "echo begun; sleep 1; echo done; exit 3",
    ]);
    expect(left).toMatchObject({ code: 0, stderr: "" });
    const id = left.stdout.toString().trim();
    expect(id).toMatch(/^[\w-]+\/[\w-]+$/);
    const attached = await command.run(["sessions", "attach", id, "--executor", url]);
    expect(attached).toMatchObject({ code: 3, stderr: "" });
    expect(attached.stdout.toString()).toBe("begun\ndone\n");
  });

  it("vim goes on at another size, and what is typed arrives once", async () => {
    const url = await serve();
    const file = join(home, "text");
    const left = await command.run([
      "run",
      "--executor",
      url,
      "--detach",
      "--tty",
      "--",
      "vim",
      "-u",
      "NONE",
      "-i",
      "NONE",
      "-n",
      file,
    ]);
    const id = left.stdout.toString().trim();
    const attachAt = (size: { rows: number; cols: number }) => {
      const script = `stty -g; ${codexWords} sessions attach ${id} --executor ${url}; echo "code $?"; stty -g`;
      const terminal = new Terminal("/bin/sh", ["-c", script], { size, env: { CODEX_HOME: home } });
      onTestFinished(() => terminal.kill());
      return terminal;
    };
    const settings = (text: string) => text.match(/^[0-9a-f]+(?::[0-9a-f]+){10,}\r$/gm) ?? [];
    const first = attachAt({ rows: 24, cols: 80 });
    await first.shown("~");
    first.type("ione");
    await first.shown("one");
    first.type("\r~.");
    await first.ended;
    expect(first.output).toContain("the program keeps running");
    expect(first.output).toContain("code 0");
    expect(new Set(settings(first.output)).size).toBe(1);
    const second = attachAt({ rows: 40, cols: 120 });
    // It draws rows that the first terminal did not have.
    await second.shown("\x1b[39;1H~");
    second.type("two\x1b:wq\r");
    await second.ended;
    expect(second.output).toContain("code 0");
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
  });

  it("an id that there is not is an error", async () => {
    const url = await serve();
    const asked = await command.run(["sessions", "attach", "0000-not-there/x", "--executor", url]);
    expect(asked).toMatchObject({ code: 1, stderr: expect.stringContaining("cannot be taken up") });
  });
});
