// How launchers start an exec-server: settings that it checks, and a stdin with which it ends.
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();
let home = "";
beforeEach(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-launch-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

const launch = (args: readonly string[], env: Record<string, string> = {}) =>
  command.start(["exec-server", "--listen", "ws://127.0.0.1:0", ...args], { CODEX_HOME: home, ...env });
const untilListening = async (child: ChildProcessWithoutNullStreams) => {
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return url;
};

describe("an exec-server ends with the stdin of its launcher", () => {
  it.each<[readonly string[], Record<string, string>]>([
    [["--exit-on-stdin-close"], {}],
    [[], { CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE: "true" }],
  ])("where %j %j say so, and ends what it runs", async (args, env) => {
    const server = launch(args, env);
    const url = await untilListening(server);
    server.stdin.write("is not read\n");
    const running = command.start(["run", "--executor", url, "--", "sh", "-c", "echo $$; exec sleep 60"], {
      CODEX_HOME: home,
    });
    const [pid] = (await once(createInterface({ input: running.stdout }), "line")) as [string];
    const ended = finish(server);
    server.stdin.end();
    expect(await ended).toMatchObject({ code: 0, signal: null });
    await expect.poll(() => isAlive(Number(pid))).toBe(false);
  });

  it("also where the launcher dies", async () => {
    const script = `exec 3<&0; "$0" "$@" <&3 & wait`;
    const launcher = spawn("sh", ["-c", script, ...server(["--exit-on-stdin-close"])], {
      env: { ...process.env, CODEX_HOME: home },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [url] = (await once(createInterface({ input: launcher.stdout }), "line")) as [string];
    launcher.kill("SIGKILL");
    launcher.stdin.destroy();
    const run = () => finish(command.start(["run", "--executor", url, "--", "true"], { CODEX_HOME: home }));
    await expect.poll(async () => (await run()).code, { timeout: 10_000 }).toBe(125);
  });

  it("not otherwise", async () => {
    const server = launch([], { CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE: "false" });
    const url = await untilListening(server);
    server.stdin.end();
    const ran = await finish(command.start(["run", "--executor", url, "--", "echo", "here"], { CODEX_HOME: home }));
    expect(ran.stdout.toString()).toBe("here\n");
  });
});

const server = (args: readonly string[]) => [
  process.execPath,
  codex,
  "exec-server",
  "--listen",
  "ws://127.0.0.1:0",
  ...args,
];

describe("settings of a launcher are checked", () => {
  it.each([
    [["--enable", "hooks", "--disable", "network_proxy"]],
    [["-c", "model=x", "-c", 'sandbox_mode="read-only"']],
    [["--strict-config", "-c", "model=x"]],
    [["--linux-sandbox-pid-namespace", "isolate"]],
    [["--linux-sandbox-pid-namespace", "inherit"]],
    [["--proxy-private-ips-via-upstream"]],
  ])("%j are taken", async (args) => {
    expect(await untilListening(launch(args))).toMatch(/^ws:/);
  });

  it.each([
    [["--enable", "nope"], {}, 1, "Unknown feature flag: nope"],
    [["--disable", "nope"], {}, 1, "Unknown feature flag: nope"],
    [["-c", "novalue"], {}, 2, "-c: expected key=value"],
    [["--strict-config", "-c", "zork=1"], {}, 1, "--strict-config: flag -c zork: unknown key `zork`"],
    [["--linux-sandbox-pid-namespace", "x"], {}, 2, "Allowed choices are isolate, inherit"],
    [
      [],
      { CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE: "1" },
      2,
      '$CODEX_EXEC_SERVER_EXIT_ON_STDIN_CLOSE is "1"; expected true or false',
    ],
    [[], { CODEX_EXEC_SERVER_PROXY_PRIVATE_IPS_VIA_UPSTREAM: "yes" }, 2, "expected true or false"],
  ])("%j %j are refused", async (args, env, code, message) => {
    expect(await finish(launch(args, env))).toMatchObject({ code, stderr: expect.stringContaining(message) });
  });

  it("--strict-config also reads config.toml", async () => {
    writeFileSync(join(home, "config.toml"), "zork = 1\n");
    expect(await finish(launch(["--strict-config"]))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("config.toml:1: unknown key `zork`"),
    });
    expect(await untilListening(launch([]))).toMatch(/^ws:/);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
