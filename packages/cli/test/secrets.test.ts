import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DEFAULT_EXCLUDES } from "@codex/exec-backend";
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

/** The same command line, as an ordinary user. */
function startAsNobody(args: readonly string[], env: Record<string, string> = {}) {
  const call = [process.execPath, codex, ...args];
  const argv = process.getuid?.() === 0 ? ["setpriv", ...asNobody, ...call] : call;
  const more = { ...(process.env.PATH === undefined ? {} : { PATH: process.env.PATH }), ...env };
  return spawn(argv[0]!, argv.slice(1), { cwd: "/tmp", env: { HOME: "/tmp", A_TOKEN: VALUE, ...more } });
}

const unsandboxed = ["-a", "never", "-s", "danger-full-access"];

/** Of the process whose number is in `pid`: what can be read, each on a line of its own. */
const look = `cat /proc/$pid/environ >/dev/null && echo environ; dd if=/proc/$pid/mem of=/dev/null bs=1 count=0 && echo mem; ls /proc/$pid/fd >/dev/null && echo fd`;

describe.skipIf(whyNot !== "")(`a process that is not root's${whyNot && `: skipped, ${whyNot}`}`, () => {
  const run = async (args: readonly string[], cmd: string, env?: Record<string, string>) => {
    const call = JSON.stringify({ cmd, login: false, workdir: "/tmp" });
    const child = startAsNobody(["tools", "call", "exec_command", call, ...unsandboxed, ...args], env);
    child.stdin.end();
    return (await finish(child)).stdout.toString();
  };

  it("cannot be read by what it runs, and works as before", async () => {
    const output = await run([], `pid=$PPID; ${look}; echo done`);
    expect(output).toMatch(/^done$/m);
    expect(output).not.toMatch(/^(environ|mem|fd)$/m);
  });

  it("cannot be read by what another process runs for it, over stdio", async () => {
    const upwards = `pid=$(awk '/^PPid/ {print $2}' /proc/$PPID/status); tr '\\0' ' ' </proc/$pid/cmdline`;
    const output = await run(["--executor", `${codexWords} executor`], `${upwards}; echo; ${look}; echo done`);
    expect(output).toMatch(/tools call exec_command.*\n(.*\n)*done$/m);
    expect(output).not.toMatch(/^(environ|mem|fd)$/m);
  });

  it.each([
    ["executor", "ws://127.0.0.1:0"],
    ["exec-server", "ws://127.0.0.1:0"],
    ["rendezvous", "http://127.0.0.1:0"],
    ["mcp-server", "http://127.0.0.1:0"],
  ])("cannot be read by others of its user once it listens: %s", async (server, address) => {
    const listening = startAsNobody([server, "--listen", address]);
    try {
      await once(createInterface({ input: listening.stdout }), "line");
      const argv = [...(process.getuid?.() === 0 ? ["setpriv", ...asNobody] : []), "sh", "-c", `${look}; echo done`];
      const env = { PATH: process.env.PATH, pid: String(listening.pid) };
      const others = () =>
        execFileSync(argv[0]!, argv.slice(1), { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
      if (server === "mcp-server") expect(others()).toBe("done\n");
      else await expect.poll(others).toBe("done\n");
    } finally {
      listening.kill();
      await once(listening, "close");
    }
  });

  it.each(["executor", "exec-server"])(
    "cannot be read by what another process runs for it, over a websocket: %s",
    async (server) => {
      const listening = startAsNobody([server, "--listen", "ws://127.0.0.1:0"]);
      try {
        const [url] = (await once(createInterface({ input: listening.stdout }), "line")) as [string];
        const find = `for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/cmdline | grep -qxF -e '--executor=${url}' && pid=\${p#/proc/} && { echo "found $pid"; ${look}; }; done; echo done`;
        const output = await run([`--executor=${url}`], find);
        expect(output).toMatch(/^found \d+$/m);
        expect(output).not.toMatch(/^(environ|mem|fd)$/m);
      } finally {
        listening.kill();
        await once(listening, "close");
      }
    },
  );
});
