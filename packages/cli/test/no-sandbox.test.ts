import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import type { Sandbox } from "@codex/executor-protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codex, finish, useCommand } from "./support.js";

/** Runs a program as on a host that lacks something. */
interface Host {
  name: string;
  argv: string[];
  /** What is missing, and what mends it. */
  told: RegExp;
}

const PROGRAMS = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"].filter(existsSync);
const hidden = [...new Set(PROGRAMS.map((path) => realpathSync(path)))].flatMap((path) => [
  "--ro-bind",
  "/dev/null",
  path,
]);

const HOSTS: Host[] = [
  {
    name: "without bubblewrap",
    argv: ["bwrap", "--dev-bind", "/", "/", ...hidden, "--"],
    told: /the program `bwrap` was not found; install bubblewrap \(Debian, Ubuntu: `apt install bubblewrap`;/,
  },
  {
    name: "without user namespaces",
    // The setting of a namespace of its own: that of this host stays what it is.
    argv: ["unshare", "--map-root-user", "sh", "-c", 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"', "sh"],
    told: /a trial run of \S*bwrap failed \(.*\): no user namespace may be created; `sysctl user\.max_user_namespaces=15000` allows/,
  },
];

function findProblem({ argv: [file, ...args] }: Host): string | undefined {
  if (process.platform !== "linux") return `hosts are made with namespaces of Linux, not ${process.platform}`;
  if (PROGRAMS.length === 0) return "bubblewrap is missing";
  try {
    execFileSync(file!, [...args, "true"], { stdio: "pipe" });
    return undefined;
  } catch (error) {
    return `${file} does not work here: ${error instanceof Error ? error.message.split("\n")[1] : error}`;
  }
}

const READ_ONLY: Sandbox = {
  permissions: {
    type: "managed",
    file_system: {
      type: "restricted",
      entries: [{ path: { type: "special", value: { kind: "root" } }, access: "read" }],
    },
    network: "restricted",
  },
};

describe.each(HOSTS)("a host $name", (host) => {
  const problem = findProblem(host);
  const command = useCommand();
  const own = [...host.argv, process.execPath, codex];
  let directory: string;
  let marker: string;
  beforeEach(() => {
    directory = mkdtempSync(join("/var/tmp", "codex-bare-"));
    marker = join(directory, "ran");
  });
  afterEach(() => {
    // Nothing that was to be held has run.
    expect(existsSync(marker)).toBe(false);
    rmSync(directory, { recursive: true, force: true });
  });
  const run = (...args: string[]) => {
    const [file, ...rest] = [...own, ...args];
    const child = spawn(file!, rest, { cwd: directory, env: { ...process.env, CODEX_HOME: join(directory, "home") } });
    child.stdin.end();
    return finish(child);
  };

  describe.skipIf(problem !== undefined)(problem ?? "as it is", () => {
    it("tells what is missing and how to mend it", async () => {
      const { stdout } = await run("doctor");
      expect(stdout.toString()).toMatch(
        /\nwarning {2}sandbox +none: with a configured sandbox mode commands are refused, otherwise/,
      );
      const { code, stderr } = await run("sandbox", "--check");
      expect(code).toBe(1);
      expect(stderr).toMatch(host.told);
    });

    it("runs no program by hand", async () => {
      const { code, stderr } = await run("sandbox", "--", "touch", marker);
      expect(code).toBe(126);
      expect(stderr).toMatch(host.told);
    });

    it.each(["read-only", "workspace-write"])(
      "runs no command of a model in mode %s, through an executor",
      async (mode) => {
        const quoted = own.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
        const args = JSON.stringify({ cmd: `touch ${marker}`, workdir: directory });
        const flags = ["-s", mode, "-a", "never", "--executor", `exec ${quoted} executor`];
        const child = command.startIn(directory, ["tools", "call", "exec_command", args, ...flags], {
          CODEX_HOME: join(directory, "home"),
        });
        child.stdin.end();
        const { code, stdout, stderr } = await finish(child);
        expect(code).toBe(1);
        expect(`${stdout}${stderr}`).toMatch(host.told);
      },
    );

    it("asks about a command of a model where nobody said a mode, but for what is known to be safe", async () => {
      const call = async (cmd: string) => {
        const ended = await run("tools", "call", "exec_command", JSON.stringify({ cmd, login: false }));
        return { ...ended, stdout: ended.stdout.toString() };
      };
      const { code, stdout, stderr } = await call(`touch ${marker}`);
      expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
      expect(stdout).toMatch(host.told);
      expect(stdout).toMatch(/The command was not approved:.*there is no terminal to ask at/);
      expect(await call("ls -a")).toMatchObject({ code: 0 });
      expect((await call(`cat ${homedir()}/.ssh/id_ed25519`)).stdout).toMatch(
        /not approved:.*names what one would close/s,
      );
    });

    it("runs no process and touches no file, through an exec-server", async () => {
      const [file, ...args] = own;
      const client = await ExecServerClient.spawnLocal({
        command: file!,
        args: [...args, "exec-server", "--listen", "stdio"],
      });
      try {
        const backend = createRemoteBackend(client);
        const start = (sandbox?: Sandbox) =>
          backend.start({
            argv: sandbox === undefined ? ["true"] : ["touch", marker],
            cwd: directory,
            env: { PATH: process.env.PATH ?? "/usr/bin:/bin" },
            stdio: { kind: "pipe", stdin: "null" },
            ...(sandbox === undefined ? {} : { sandbox }),
          });
        await expect(start(READ_ONLY)).rejects.toMatchObject({ message: expect.stringMatching(host.told) });
        const sandbox = { ...READ_ONLY, windowsSandboxLevel: "disabled" };
        const write = client.fileSystem.writeFile(marker, Buffer.from("x"), { sandbox });
        await expect(write).rejects.toMatchObject({ code: -32603, message: expect.stringMatching(host.told) });
        const { capabilities } = await client.environment.info();
        expect(capabilities).toMatchObject({ sandboxedFileStreaming: false });
        expect(await (await start()).exited).toEqual({ kind: "exited", code: 0 });
        await backend.close();
      } finally {
        await client.close();
      }
    });
  });
});
