import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finish, useCommand } from "../support.js";

let home: string;
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "codex-home-")));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const command = useCommand();

async function run(config: string, ...args: string[]) {
  await writeFile(join(home, "config.toml"), config);
  const child = command.start(args, { CODEX_HOME: home, TEAM_COLOR: "red", TEAM_TOKEN: "sk-1" });
  child.stdin.end();
  const { code, stdout, stderr } = await finish(child);
  return { code, stdout: stdout.toString(), stderr };
}

describe("codex config show", () => {
  it("prints each value with where it was said, and no secret", async () => {
    const config = 'approval_policy = "never"\nmodel = "m"\n[shell_environment_policy.set]\nA = "s3cret"\n';
    const { code, stdout } = await run(config, "config", "show", "-s", "workspace-write", "-c", "audit.path=x");
    expect(code).toBe(0);
    expect(stdout).toContain(`codex home  ${home} (environment CODEX_HOME)\n`);
    expect(stdout).toMatch(new RegExp(`\napproval_policy +"never" +${home}/config.toml:1\n`));
    expect(stdout).toMatch(/\nsandbox_mode +"workspace-write" +flag --sandbox workspace-write\n/);
    expect(stdout).toMatch(/\nallow_login_shell +true +default\n/);
    expect(stdout).toContain(`\nread where they are needed:\n  model  ${home}/config.toml:2\n`);
    expect(stdout).not.toContain("s3cret");
  });

  it("tells of MCP servers and hooks whether they run, and who decided that", async () => {
    const config = `[mcp_servers.on]
command = "secret-program"
[mcp_servers.off]
command = "x"
enabled = false
[[hooks.Stop]]
hooks = [{ type = "command", command = "true" }]
[tui]
animations = false
`;
    const { stdout } = await run(config, "config", "show");
    expect(stdout.slice(stdout.indexOf("\nMCP servers:"))).toBe(`
MCP servers:
  on  on  ${home}/config.toml:1
  off  off  ${home}/config.toml:5

hooks:
  ${home}/config.toml:stop:0:0  does not run  nobody has trusted it

not used here:
  tui  ${home}/config.toml:8
`);
    const { stdout: json } = await run(config, "config", "show", "--json");
    expect(JSON.parse(json)).toMatchObject({
      mcpServers: [
        { name: "on", enabled: true },
        { name: "off", enabled: false, origin: { line: 5 } },
      ],
      managedHooksOnly: false,
      hooks: [{ runs: false, trust: "untrusted" }],
      elsewhere: [],
    });
  });

  it("prints JSON", async () => {
    const { stdout } = await run("allow_login_shell = false\n", "config", "show", "--json");
    const { values, codexHome } = JSON.parse(stdout) as { values: { key: string }[]; codexHome: unknown };
    expect(codexHome).toEqual({ value: home, origin: { kind: "environment", variable: "CODEX_HOME" } });
    expect(values.find(({ key }) => key === "allow_login_shell")).toEqual({
      key: "allow_login_shell",
      value: false,
      origin: { kind: "file", layer: "user", file: join(home, "config.toml"), line: 1, column: 1 },
    });
  });

  it.each([
    ["x = ", [], 1, "config.toml:1:"],
    [
      'x = "secret\ny = 1',
      [],
      1,
      "config.toml:1:12: the string is not closed on its line: a quote is missing at its end\n",
    ],
    ["x = 'secret\r\ny = 1", [], 1, "config.toml:1:12: the string is not closed on its line"],
    ['x = """secret\n', [], 1, "config.toml:1:5: the string that begins here is not closed"],
    ["x = never\n", [], 1, 'invalid value: text stands in straight quotes, as in key = "text"\n'],
    ["x = \u201cnever\u201d\n", [], 1, "text stands in straight quotes"],
    ['x = "a\u0007b"', [], 1, "control characters are not allowed in strings"],
    ["", ["-c", "sandbox_mode=off"], 2, 'flag -c sandbox_mode: `sandbox_mode` is "off"; expected'],
    ["", ["-p", "none"], 2, "--profile none: there is no file"],
  ])("%j with %j ends with %i", async (config, flags, code, message) => {
    expect(await run(config, "config", "show", ...flags)).toMatchObject({
      code,
      stdout: "",
      stderr: expect.stringContaining(message),
    });
  });
});

describe("codex tools call", () => {
  const echo = '{"cmd":"echo $TEAM_COLOR-$TEAM_TOKEN-$EXTRA","login":false}';
  // Nothing here is about a sandbox, and not every host has one.
  const call = ["tools", "call", "-s", "danger-full-access", "exec_command"];

  it.each([
    ["", "red--"],
    ["shell_environment_policy.ignore_default_excludes = true", "red-sk-1-"],
    ['shell_environment_policy = { exclude = ["TEAM_*"], set = { EXTRA = "x" } }', "--x"],
    ['shell_environment_policy.inherit = "core"', "--"],
  ])("%j makes the environment %s", async (config, output) => {
    const { stdout } = await run(`${config}\n`, ...call, echo);
    expect(stdout).toMatch(new RegExp(`\n${output}\n`));
  });

  it("asks, refuses and limits as configured; flags count before files", async () => {
    const rm = '{"cmd":"rm -rf x"}';
    expect((await run('approval_policy = "never"\n', ...call, rm)).stdout).toContain("approval policy `never`");
    expect((await run('approval_policy = "never"\n', ...call, rm, "-a", "untrusted")).stdout).toContain("not approved");
    const granular = "approval_policy = { granular = { sandbox_approval = false, rules = true } }\n";
    expect((await run(granular, ...call, rm)).stdout).toContain("`granular` with `sandbox_approval` off");
    const login = await run("allow_login_shell = false\n", ...call, '{"cmd":"true","login":true}');
    expect(login).toMatchObject({ code: 1, stdout: expect.stringContaining("field `login`") });
    const long = await run("tool_output_token_limit = 10\n", ...call, '{"cmd":"seq 1000"}');
    expect(long.stdout).toContain("tokens truncated");
  });

  it("reads the rules of a project once it is trusted", async () => {
    const project = join(home, "project");
    await mkdir(join(project, ".codex", "rules"), { recursive: true });
    await mkdir(join(project, ".git"));
    await writeFile(join(project, ".codex/rules/a.rules"), 'prefix_rule(pattern=["echo"], decision="forbidden")\n');
    const explain = async (trust: string) => {
      await writeFile(join(home, "config.toml"), `[projects.${JSON.stringify(project)}]\ntrust_level = "${trust}"\n`);
      const child = command.startIn(project, ["execpolicy", "explain", "echo hi"], { CODEX_HOME: home });
      child.stdin.end();
      return (await finish(child)).stdout.toString();
    };
    expect(await explain("untrusted")).toContain("runs without a question");
    expect(await explain("trusted")).toContain("requirement  forbidden");
  });
});
