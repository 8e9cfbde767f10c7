// An environment that names a permission profile: whatever runs there, runs under it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { functionCall, respond, say } from "@codex/agent/testing";
import { createCommandSandbox } from "@codex/sandbox";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { setUpAgent } from "./agent/support.js";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();
const { kind } = await createCommandSandbox().getSupport();
const PROFILES = `[permissions.quiet]
extends = ":read-only"
[permissions.dev]
extends = ":workspace"
`;

let base = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/codex-environment-profiles-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const directory of ["home", "work"]) mkdirSync(join(base, directory));
});

/** Two environments that are programs on this host. */
function configure(home: string, profiles: Readonly<Record<string, string>>, head = ""): void {
  const environment = (id: string) =>
    `[[environments]]\nid = "${id}"\nprogram = ${JSON.stringify(process.execPath)}\nargs = ["${codex}", "exec-server", "--listen", "stdio"]\ncwd = "${join(base, "work")}"\n`;
  writeFileSync(join(home, "environments.toml"), `${head}${environment("one")}${environment("two")}`);
  const named = Object.entries(profiles).map(([id, name]) => `[extend.${id}]\npermission_profile = "${name}"\n`);
  writeFileSync(join(home, "environments-ts.toml"), named.join(""));
}

describe.skipIf(kind === "none")("the permission profile of an environment", () => {
  const made = () => {
    const is = existsSync(join(base, "work/made"));
    rmSync(join(base, "work/made"), { force: true });
    return is;
  };
  const run = async (...args: string[]) => {
    writeFileSync(join(base, "home/config.toml"), PROFILES);
    const child = command.start(args, { CODEX_HOME: join(base, "home") });
    child.stdin.end();
    const { code, stderr } = await finish(child);
    return { code, stderr, made: made() };
  };
  const touch = ["--", "touch", "made"];
  const call = ["exec_command", '{"cmd":"touch made","login":false}'];

  it("holds for programs and tools there, and not for those of another", async () => {
    configure(join(base, "home"), { one: "quiet", two: "dev" });
    expect((await run("run", "--environment", "one", ...touch)).made).toBe(false);
    expect((await run("run", "--environment", "two", ...touch)).made).toBe(true);
    expect((await run("sandbox", "--environment", "one", ...touch)).made).toBe(false);
    expect((await run("sandbox", "--environment", "two", ...touch)).made).toBe(true);
    expect((await run("tools", "call", "--environment", "one", ...call)).made).toBe(false);
    expect((await run("tools", "call", "--environment", "two", ...call)).made).toBe(true);
  });

  it("is that of the default environment where none is named, and of none on this host", async () => {
    configure(join(base, "home"), { one: "quiet" }, 'default = "one"\n');
    expect((await run("run", ...touch)).made).toBe(false);
    expect((await run("sandbox", "-s", "workspace-write", "-C", join(base, "work"), ...touch)).made).toBe(true);
  });

  it("holds on this host where that is used instead", async () => {
    writeFileSync(join(base, "home/environments.toml"), '[[environments]]\nid = "far"\nurl = "ws://127.0.0.1:1"\n');
    writeFileSync(
      join(base, "home/environments-ts.toml"),
      '[extend.far]\nfallback = "local"\npermission_profile = "quiet"\n',
    );
    const at = join(base, "work/made");
    const { stderr, made: isMade } = await run("run", "--environment", "far", "--", "touch", at);
    expect([stderr, isMade]).toEqual([expect.stringContaining("running in `local`"), false]);
    const args = JSON.stringify({ cmd: `touch ${at}`, login: false });
    expect((await run("tools", "call", "--environment", "far", "exec_command", args)).made).toBe(false);
  });

  it("gives way to a flag", async () => {
    configure(join(base, "home"), { one: "quiet" });
    const written = await run("run", "--environment", "one", "-s", "workspace-write", ...touch);
    expect(written).toMatchObject({ code: 0, made: true });
    expect((await run("run", "--environment", "one", "-P", "dev", ...touch)).made).toBe(true);
    const tools = await run("tools", "call", "--environment", "one", "-P", "dev", ...call);
    expect(tools).toMatchObject({ code: 0, made: true });
  });

  it("has to be one that is there, and is never skipped", async () => {
    configure(join(base, "home"), { one: "gone" });
    for (const args of [
      ["run", "--environment", "one", ...touch],
      ["tools", "call", "--environment", "one", ...call],
    ]) {
      const { code, stderr, made: isMade } = await run(...args);
      expect({ code, isMade }).toMatchObject({ isMade: false });
      expect(code).not.toBe(0);
      expect(stderr).toMatch(/environments-ts\.toml:2: .*gone/);
    }
  });

  it("is that of each environment of an agent, which uses several", async () => {
    const workdir = join(base, "work");
    const calls = ["one", "two"].map((id) =>
      respond(functionCall(id, "exec_command", { cmd: `touch ${id}`, login: false, environment_id: id, workdir })),
    );
    const setup = await setUpAgent(command, [...calls, say("done")]);
    const config = join(setup.home, "config.toml");
    writeFileSync(config, `${readFileSync(config, "utf8")}${PROFILES}`);
    configure(setup.home, { one: "quiet", two: "dev" }, 'default = "one"\n');
    const { code } = await setup.run(["--skip-git-repo-check", "-C", join(base, "work"), "go"]);
    expect(code).toBe(0);
    expect([existsSync(join(base, "work/one")), existsSync(join(base, "work/two"))]).toEqual([false, true]);
  });
});
