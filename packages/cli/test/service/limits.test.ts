// Limits of sessions: as options of servers and as settings, shown by `sessions list`, in results and in metrics.
import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findLimitSupport } from "@codex/process-host/resources";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { finish, useCommand } from "../support.js";

const command = useCommand();
const hasGroups = findLimitSupport().groups !== undefined;
const HOG = `"${process.execPath}" -e 'const held = []; for (;;) held.push(Buffer.alloc(8e6, 1));'`;

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-limits-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
});

describe.skipIf(!hasGroups)("a server with limits", () => {
  it("executor: ends a hog, tells which limit, and shows what runs", async () => {
    const { url } = await command.listen(["--limit-memory", "200M", "--limit-processes", "50", "--metrics"]);
    const hog = await command.run(["run", "--executor", url, "--", "sh", "-c", HOG]);
    expect(hog.code).toBe(137);
    expect(hog.stderr).toMatch(/memory limit of 200 MiB/);
    const shell = command.start(["run", "--executor", url, "--", "cat"]);
    shell.stdin.write("up\n");
    await once(createInterface({ input: shell.stdout }), "line");
    const listed = await command.run(["sessions", "list", "--executor", url]);
    expect(listed.stdout.toString()).toMatch(
      /unread, [\d.]+ [KM]iB of memory, \d+\.\d s of processors, 1 process, in /,
    );
    const metrics = await (await fetch(`${url.replace("ws:", "http:")}/metrics`)).text();
    expect(metrics).toMatch(/codex_limits_reached_total\{limit="memory"\} 1\n/);
    expect(metrics).toMatch(/codex_limited_processes 1\n/);
    shell.stdin.end();
    expect((await once(shell, "close"))[0]).toBe(0);
  });

  it("exec-server: the same, for programs that a client starts", async () => {
    const server = command.start(["exec-server", "--listen", "ws://127.0.0.1:0", "--limit-memory", "200M"]);
    const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    expect((await command.run(["run", "--executor", url, "--", "sh", "-c", HOG])).code).toBe(137);
  });

  it("settings: a command of an agent or of `run` has them", async () => {
    writeFileSync(join(home, "config.toml"), '[limits]\nmemory = "200M"\ntime = 60\n');
    const tool = command.start(["tools", "call", "exec_command", JSON.stringify({ cmd: HOG })], { CODEX_HOME: home });
    const called = await finish(tool);
    expect(called.stdout.toString() + called.stderr).toContain(
      "Process was ended by its memory limit of 200 MiB, with SIGKILL",
    );
  });
});

describe.skipIf(!hasGroups)("an environment with limits", () => {
  const configure = (url: string, limits: string) => {
    writeFileSync(join(home, "environments.toml"), `[[environments]]\nid = "build"\nurl = "${url}"\n`);
    writeFileSync(join(home, "environments-ts.toml"), `[extend.build]\nlimits = ${limits}\n`);
  };
  const inHome = (...words: string[]) => finish(command.start(words, { CODEX_HOME: home }));

  it("its commands have them, those of a person and those of a model", async () => {
    const { url } = await command.listen();
    configure(url, '{ memory = "200M", processes = 50 }');
    const run = await inHome("run", "--environment", "build", "--", "sh", "-c", HOG);
    expect(run).toMatchObject({ code: 137, stderr: expect.stringContaining("memory limit of 200 MiB") });
    const called = await inHome(
      "tools",
      "call",
      "--environment",
      "build",
      "exec_command",
      JSON.stringify({ cmd: HOG }),
    );
    expect(called.stdout.toString() + called.stderr).toContain("memory limit of 200 MiB");
  });

  it("where they cannot be held, nothing runs", async () => {
    const server = command.start(["exec-server", "--listen", "ws://127.0.0.1:0"]);
    const [url] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
    configure(url, "{ time = 60 }");
    const run = await inHome("run", "--environment", "build", "--", "true");
    expect(run).toMatchObject({
      code: 125,
      stderr: expect.stringContaining("cannot hold the limits of this environment"),
    });
    const called = await inHome(
      "tools",
      "call",
      "--environment",
      "build",
      "exec_command",
      JSON.stringify({ cmd: "true" }),
    );
    expect(called.stdout.toString() + called.stderr).toContain("cannot hold limits of what a command uses");
  });

  it.each([
    ["{ memory = 0 }", "`memory` is 0; expected a size"],
    ['{ cpus = "2" }', '`cpus` is "2"; expected a number above 0'],
    ["{ files = 1 }", "`files` is no limit; expected memory, cpus"],
    ["3", "expected a table of limits"],
  ])("%s is an error", async (limits, problem) => {
    configure("ws://127.0.0.1:1", limits);
    const listed = await inHome("environment", "list");
    expect(listed.stdout.toString() + listed.stderr).toContain(problem);
  });
});

describe("a limit that is none", () => {
  it.each([
    ["--limit-memory", "lots", "expected a size of at least 1 byte, such as 512M or 2G"],
    ["--limit-memory", "0", "expected a size of at least 1 byte"],
    ["--limit-cpus", "0", "expected a number of processors above 0"],
    ["--limit-processes", "-1", "expected a number of processes of at least 1"],
    ["--limit-time", "1.5", "expected a number of seconds of at least 1"],
  ])("%s %s is refused", async (flag, value, problem) => {
    const refused = await command.run(["executor", "--listen", "ws://127.0.0.1:0", `${flag}=${value}`]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`${flag} "${value}": ${problem}`) });
  });
});
