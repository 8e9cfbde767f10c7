import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCuttingProxy } from "@codex/testkit";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Terminal } from "./pty.js";
import { codex, finish, useCommand } from "./support.js";

const CTRL_C = "\u0003";
const END = "\u0004";

describe("codex run, while its connection is lost", () => {
  const command = useCommand();
  const closing: (() => unknown)[] = [];
  let directory = "";
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "codex-lost-"));
  });
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
    rmSync(directory, { recursive: true, force: true });
  });

  async function listen(graceSeconds: number) {
    const { url } = await command.listen(["--resume-grace", String(graceSeconds)]);
    const proxy = await createCuttingProxy(url);
    closing.push(() => proxy.close());
    return proxy;
  }

  /**
   * A shell that runs the command, then `cat` into a file: what of the keys is left for it. The program says `ready` and
   * echoes what it reads, each line with its number of bytes.
   */
  async function start(graceSeconds: number, flag: "--tty" | "--no-tty") {
    const proxy = await listen(graceSeconds);
    const program = 'echo rea""dy; while read -r line; do echo "got:$line."; done';
    const run = `"$NODE" "$CODEX" run ${flag} --executor "$URL" -- sh -c '${program}'`;
    // Ctrl-C that ends the program is for this shell as well.
    const script = `trap : INT; ${run}; echo "ended"" with $?"; stty -a | grep -o -e '-\\?icanon'; cat >left; echo all"" read`;
    const env = { NODE: process.execPath, CODEX: codex, URL: proxy.url };
    const terminal = new Terminal("sh", ["-c", script], { cwd: directory, env });
    closing.push(() => terminal.kill());
    await terminal.shown("ready");
    return { proxy, terminal };
  }

  /** What the shell behind it is left with, beside a line typed then. */
  async function readLeft(terminal: Terminal): Promise<string> {
    await terminal.shown("icanon");
    terminal.type(`own\r${END}`);
    await terminal.shown("all read");
    return readFileSync(join(directory, "left"), "utf8");
  }

  describe.each(["--tty", "--no-tty"] as const)("with %s", (flag) => {
    it("leaves nothing of what was typed to the shell after it gave up", async () => {
      const { proxy, terminal } = await start(5, flag);
      proxy.setDown(true);
      await terminal.shown("connection lost, trying again");
      terminal.type("touch marker1\r");
      terminal.type("touch marker2\rtouch mar");
      await terminal.shown("the outcome is unknown");
      await terminal.shown("ended with 125");
      expect(await readLeft(terminal)).toBe("own\n");
      expect(terminal.output).toMatch(/[^-]icanon/);
    });

    it("delivers what was typed once it is connected again", async () => {
      const { proxy, terminal } = await start(60, flag);
      proxy.setDown(true);
      await terminal.shown("connection lost, trying again");
      terminal.type("one\rtwo\r");
      proxy.setDown(false);
      await terminal.shown("connected again");
      await terminal.shown("got:one.");
      await terminal.shown("got:two.");
      terminal.type(`three\r${END}`);
      await terminal.shown("got:three.");
      await terminal.shown("ended with 0");
      expect(await readLeft(terminal)).toBe("own\n");
      expect(terminal.output.match(/got:one\./g)).toHaveLength(1);
    });

    it("is left with ~. where a line begins", async () => {
      const { proxy, terminal } = await start(600, flag);
      proxy.setDown(true);
      await terminal.shown("connection lost, trying again");
      terminal.type("touch marker\r~.\r");
      await terminal.shown("given up with ~.");
      await terminal.shown("ended with 125");
      // The end of the line that leaves may come later.
      expect((await readLeft(terminal)).trim()).toBe("own");
    });
  });

  it("is left with Ctrl-C twice", async () => {
    const { proxy, terminal } = await start(600, "--tty");
    proxy.setDown(true);
    await terminal.shown("connection lost, trying again");
    terminal.type("touch marker\r");
    terminal.type(CTRL_C);
    await terminal.shown("Ctrl-C again gives up");
    terminal.type(CTRL_C);
    await terminal.shown("given up with Ctrl-C twice");
    await terminal.shown("ended with 125");
    expect(await readLeft(terminal)).toBe("own\n");
  });

  it("does not deliver what Ctrl-C took back", async () => {
    const { proxy, terminal } = await start(600, "--tty");
    proxy.setDown(true);
    await terminal.shown("connection lost, trying again");
    terminal.type("taken back\r");
    terminal.type(CTRL_C);
    await terminal.shown("Ctrl-C again gives up");
    proxy.setDown(false);
    await terminal.shown("ended with 130");
    expect(terminal.output).not.toContain("got:");
  });

  it("is left with Ctrl-C twice when the executor says nothing at all", async () => {
    const { proxy, terminal } = await start(600, "--tty");
    proxy.stall();
    terminal.type("typed into nothing\r");
    terminal.type(CTRL_C);
    terminal.type(CTRL_C);
    await terminal.shown("given up with Ctrl-C twice");
    await terminal.shown("ended with 125");
    expect(await readLeft(terminal)).toBe("own\n");
  });

  it("tells also where stderr is no terminal, and ends by a signal that asks for it", async () => {
    const proxy = await listen(600);
    for (const [signals, how] of [
      [["SIGTERM"], "SIGTERM"],
      [["SIGINT", "SIGINT"], "Ctrl-C twice"],
    ] as const) {
      const run = command.start(["run", "--executor", proxy.url, "--", "sh", "-c", "echo ready; sleep 1000"]);
      const finished = finish(run);
      const told = async (text: string) => {
        let seen = "";
        for await (const bytes of run.stderr.iterator({ destroyOnReturn: false })) {
          seen += String(bytes);
          if (seen.includes(text)) return;
        }
      };
      run.stdout.once("data", () => proxy.setDown(true));
      await told("connection lost, trying again");
      for (const [index, signal] of signals.entries()) {
        if (index > 0) await told("Ctrl-C again gives up");
        run.kill(signal);
      }
      const { signal, stderr } = await finished;
      expect(signal).toBe(signals[0]);
      expect(stderr).toContain(`given up with ${how}`);
      proxy.setDown(false);
    }
  });
});
