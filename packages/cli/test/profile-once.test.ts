// A model asks for another permission profile for one command, and a person is asked.
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCommandSandbox } from "@codex/sandbox";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { Terminal } from "./pty.js";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();
const { kind } = await createCommandSandbox().getSupport();

let base = "";
beforeEach(() => {
  base = realpathSync(mkdtempSync("/var/tmp/codex-profile-once-"));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  for (const directory of ["home", "work", "data"]) mkdirSync(join(base, directory));
  writeFileSync(join(base, "data/secret"), "s3cret");
  configure();
});
const configure = (more = "") =>
  writeFileSync(
    join(base, "home/config.toml"),
    `approval_policy = "on-request"
default_permissions = "narrow"
${more}
[permissions.narrow]
extends = ":read-only"
[permissions.narrow.filesystem]
"${base}/data/secret" = "deny"
[permissions.data]
extends = ":read-only"
[permissions.data.filesystem]
"${base}/data" = "write"
[permissions.lifting]
extends = ":read-only"
[permissions.lifting.filesystem]
"${base}/data/secret" = "read"
`,
  );
const env = () => ({ CODEX_HOME: join(base, "home") });
const args = (cmd: string, profile: string) =>
  JSON.stringify({ cmd, login: false, permission_profile: profile, justification: "it fills the data" });
const script = () => `cat ${base}/data/secret; touch ${base}/work/made; touch ${base}/data/made && echo filled`;
const made = () => [existsSync(join(base, "data/made")), existsSync(join(base, "work/made"))];

describe.skipIf(kind === "none")("a permission profile for one command", () => {
  function call(profile: string): Terminal {
    const terminal = new Terminal(process.execPath, [codex, "tools", "call", "exec_command", args(script(), profile)], {
      cwd: join(base, "work"),
      env: env(),
    });
    onTestFinished(() => terminal.kill());
    return terminal;
  }
  const run = async (...words: string[]) => {
    const child = command.startIn(join(base, "work"), words, env());
    child.stdin.end();
    const { code, stdout, stderr } = await finish(child);
    return { code, text: `${stdout.toString()}${stderr}` };
  };

  it("is asked about, and holds what it says and what the own profile denies", async () => {
    const terminal = call("data");
    await terminal.shown("asks for permission profile `data`, for this command alone");
    await terminal.shown("Run it?");
    expect(terminal.output).toContain(`writes ${base}/data; no network`);
    expect(terminal.output).not.toMatch(/session|save the rule/);
    terminal.type("y\r");
    await terminal.shown("filled");
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(made()).toEqual([true, false]);
    expect(terminal.output).not.toContain("s3cret");
    // The next one has its own again.
    rmSync(join(base, "data/made"));
    await run("tools", "call", "exec_command", JSON.stringify({ cmd: script(), login: false }));
    expect(made()).toEqual([false, false]);
  });

  it("runs nothing when it is declined", async () => {
    const terminal = call("data");
    await terminal.shown("Run it?");
    terminal.type("n\r");
    await terminal.ended;
    expect(made()).toEqual([false, false]);
  });

  it("is refused where it opens what is denied, or is not there", async () => {
    const lifting = await run("tools", "call", "exec_command", args(script(), "lifting"));
    expect(lifting.text).toContain("permission profile `lifting` opens what is denied otherwise");
    const gone = await run("tools", "call", "exec_command", args(script(), "gone"));
    expect(gone.text).toContain("there is no permission profile `gone` to ask for; those are `:workspace`, `data`");
    expect(made()).toEqual([false, false]);
  });

  it("is refused where nobody can be asked", async () => {
    const alone = await run("tools", "call", "exec_command", args(script(), "data"));
    expect(alone.text).toContain("there is no terminal to ask at");
    expect(made()).toEqual([false, false]);
  });
});
