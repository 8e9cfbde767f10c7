import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_EXCLUDES } from "@codex/exec-server";
import { afterAll, describe, expect, it } from "vitest";
import { looksSecret } from "../src/conceal.js";
import { codex, codexWords, finish, useCommand } from "./support.js";

const isLinux = process.platform === "linux";
const VALUE = "hunter2-is-the-value";
const SECRETS = { DEPLOY_KEY: VALUE, client_secret: VALUE, NpmToken: VALUE };

/** A home whose startup files try to bring the secrets of the process above back. */
const home = mkdtempSync(join(tmpdir(), "secrets-"));
const startup = `cat /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n'; env`;
for (const file of [".bash_profile", ".profile", ".zprofile", ".zshenv", "env.sh"]) {
  writeFileSync(join(home, file), startup);
}
chmodSync(home, 0o755);
afterAll(() => rmSync(home, { recursive: true }));

const environment = {
  ...SECRETS,
  HOME: home,
  CODEX_HOME: join(home, ".codex"),
  BASH_ENV: join(home, "env.sh"),
  ENV: join(home, "env.sh"),
};

describe("secrets in the environment of an executor", () => {
  const command = useCommand();
  /** Everything that comes out of a call of `exec_command`. */
  const call = async (args: object, flags: readonly string[] = [], env: Record<string, string> = environment) => {
    const options = ["-a", "never", "-s", "danger-full-access", ...flags];
    const child = command.start(["tools", "call", "exec_command", "-", ...options], env);
    child.stdin.end(JSON.stringify(args));
    const { stdout, stderr } = await finish(child);
    return `${stdout}${stderr}`;
  };
  const executors = [
    ["in this process", []],
    ["in another", ["--executor", `${codexWords} executor`]],
  ] as const;
  const shells = [{}, { login: false }, { tty: true }, { shell: "sh" }];

  it.each(executors)("reach no command through its environment, executor %s", async (_name, flags) => {
    for (const shell of shells) {
      const output = await call({ cmd: "env; export -p; echo done", ...shell }, flags);
      expect(output).toContain("done");
      expect(output).not.toContain(VALUE);
      for (const name of Object.keys(SECRETS)) expect(output).not.toContain(name);
    }
  });

  it.skipIf(!isLinux).each(executors)(
    "are not in /proc/PID/environ of any process above, executor %s",
    async (_name, flags) => {
      // Not the one above the command under test: that has them, as this test has set them.
      const script = `pid=$PPID; while [ "$pid" != ${process.pid} ] && [ "$pid" -gt 1 ]; do echo "looked at $pid"; tr '\\0' '\\n' </proc/$pid/environ | grep -a '${VALUE}'; pid=$(awk '/^PPid/ {print $2}' /proc/$pid/status); done`;
      const output = await call({ cmd: script, login: false }, flags);
      expect(output.match(/looked at/g)?.length).toBeGreaterThan(flags.length === 0 ? 0 : 1);
      expect(output).not.toContain(VALUE);
    },
  );

  it("are in no error, log or receipt", async () => {
    const failures = [
      { cmd: "true", workdir: "/nowhere" },
      { cmd: "true", shell: "/nowhere/sh" },
      { cmd: "x".repeat(200_000) },
      { cmd: "kill -9 $$" },
    ];
    for (const args of failures)
      expect(await call(args, [], { ...environment, CODEX_DEBUG: "1" })).not.toContain(VALUE);
  });

  it("are there where the policy lets them, also after they were concealed", async () => {
    const { stdout } = await finish(
      command.start(["run", "-T", "--", "sh", "-c", "echo $DEPLOY_KEY $client_secret"], environment),
    );
    expect(stdout.toString()).toBe(`${VALUE} ${VALUE}\n`);
  });

  it("can be listed by name, with the reason", async () => {
    const { stdout } = await finish(command.start(["env", "--json"], { ...environment, CODEX_HOME: home }));
    const { removed } = JSON.parse(stdout.toString()) as { removed: unknown[] };
    expect(removed).toContainEqual({ name: "DEPLOY_KEY", by: "*KEY*" });
    expect(removed).toContainEqual({ name: "client_secret", by: "*SECRET*" });
    expect(stdout.toString()).not.toContain(VALUE);
  });

  it("look like what the default policy leaves out", () => {
    expect(DEFAULT_EXCLUDES).toEqual(["*KEY*", "*SECRET*", "*TOKEN*"]);
    for (const name of ["key", "A_KEY_B", "Secret", "xTOKENx"]) expect(looksSecret(name)).toBe(true);
    expect(looksSecret("PATH")).toBe(false);
  });
});

const asNobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];

/** Root reads everything: whether others can is seen from an executor that is not root. */
const whyNot = (() => {
  if (!isLinux) return "for Linux";
  if (process.getuid?.() !== 0) return "";
  try {
    execFileSync("setpriv", [...asNobody, process.execPath, codex, "--version"], { stdio: "ignore" });
    return "";
  } catch {
    return "no setpriv, or nobody may not read this checkout";
  }
})();

describe.skipIf(whyNot !== "")(`an executor that is not root${whyNot && `: skipped, ${whyNot}`}`, () => {
  it("cannot be read by what it runs, and works as before", async () => {
    const script = `cat /proc/$PPID/environ >/dev/null && echo environ; dd if=/proc/$PPID/mem of=/dev/null bs=1 count=0 && echo mem; ls /proc/$PPID/fd >/dev/null && echo fd; echo done`;
    const args = JSON.stringify({ cmd: script, login: false, workdir: "/tmp" });
    const call = [
      process.execPath,
      codex,
      "tools",
      "call",
      "exec_command",
      args,
      "-a",
      "never",
      "-s",
      "danger-full-access",
    ];
    const argv = process.getuid?.() === 0 ? ["setpriv", ...asNobody, ...call] : call;
    const child = spawn(argv[0]!, argv.slice(1), {
      cwd: "/tmp",
      env: { PATH: process.env.PATH, HOME: "/tmp", A_TOKEN: VALUE },
    });
    child.stdin.end();
    const { stdout } = await finish(child);
    expect(stdout.toString()).toMatch(/^done$/m);
    expect(stdout.toString()).not.toMatch(/^(environ|mem|fd)$/m);
  });
});
