import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStdioChannel } from "@codex/channel";
import { createRemoteBackend, ExecServerClient } from "@codex/exec-server-client";
import { createProgramRunner } from "@codex/orchestrator";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codex, finish, useCommand } from "./support.js";

const command = useCommand();
let runtime: string;
let env: Record<string, string>;

beforeEach(() => {
  runtime = mkdtempSync(join(tmpdir(), "at-"));
  env = { XDG_RUNTIME_DIR: runtime, OPENAI_API_KEY: "sk-of-the-host" };
});
afterEach(async () => {
  for (const role of ["executor", "exec-server"]) await run([role, "--attach", "--stop"]);
  rmSync(runtime, { recursive: true, force: true });
});

async function run(words: readonly string[], input = "") {
  const child = command.start(words, env);
  child.stdin.end(input);
  return finish(child);
}

const pidOf = async (words: readonly string[]): Promise<number | undefined> => {
  const { stdout } = await run([...words, "--attach", "--status"]);
  const [, pid] = /^running: pid (\d+),/.exec(stdout.toString()) ?? [];
  return pid === undefined ? undefined : Number(pid);
};

const HELLO = '{"id":1,"method":"initialize","params":{"clientName":"x"}}\n';

/** Opens a bridge for each connection. */
function createBridges() {
  const bridges: ChildProcessWithoutNullStreams[] = [];
  const open = (role: string) => {
    const child = spawn(process.execPath, [codex, role, "--attach"], { env: { ...process.env, ...env } });
    child.stdin.on("error", () => {});
    child.stderr.resume();
    bridges.push(child);
    return createStdioChannel({ input: child.stdout, output: child.stdin });
  };
  return { bridges, open, cut: () => bridges.at(-1)!.kill("SIGKILL") };
}

describe("codex exec-server --attach", () => {
  it("starts one server for many that come at once, in a session of its own; --stop ends it", async () => {
    const answers = await Promise.all(Array.from({ length: 4 }, () => run(["exec-server", "--attach"], HELLO)));
    for (const { code, stdout } of answers) {
      expect(stdout.toString()).toContain('"sessionId"');
      expect(code).toBe(0);
    }
    const pid = await pidOf(["exec-server"]);
    expect(readdirSync(join(runtime, "codex-ts")).filter((name) => name.endsWith(".sock"))).toHaveLength(1);
    if (process.platform === "linux") {
      const stat = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]!.split(" ");
      expect({ leadsSession: Number(stat[3]) === pid, terminal: stat[4] }).toEqual({
        leadsSession: true,
        terminal: "0",
      });
    }
    const stopped = await run(["exec-server", "--attach", "--stop"]);
    expect(stopped.stdout.toString()).toBe("stopped\n");
    const gone = await run(["exec-server", "--attach", "--status"]);
    expect(gone).toMatchObject({ code: 1, stderr: "codex: no background server is running\n" });
  });

  it("loses and repeats no byte of a program while its bridges are killed", { timeout: 120_000 }, async () => {
    const { open, cut, bridges } = createBridges();
    const connector = { canReopen: true, open: async () => open("exec-server") };
    const client = await ExecServerClient.connect(connector);
    const backend = createRemoteBackend(client);
    try {
      // More than a connection carries ahead of its reader, so that each cut is in the middle of a part.
      const part = `${Array.from({ length: 1_000_000 }, (_, index) => index + 1).join("\n")}\n`;
      const counter = await backend.start({
        argv: ["sh", "-c", "for part in 1 2 3 4; do seq 1000000; read go; done; exit 7"],
        cwd: "/",
        env: { PATH: process.env.PATH ?? "" },
        stdio: { kind: "pipe", stdin: "open" },
      });
      let text = "";
      let cuts = 0;
      let parts = 0;
      for await (const { bytes } of counter.log.follow()) {
        text += Buffer.from(bytes).toString("latin1");
        if (cuts < 3 && text.length > cuts * part.length) {
          cuts += 1;
          cut();
        }
        if (text.length >= (parts + 1) * part.length) {
          parts += 1;
          await counter.write(Buffer.from("go\n"));
        }
      }
      expect(text === part.repeat(4)).toBe(true);
      expect(await counter.exited).toEqual({ kind: "exited", code: 7 });
      expect({ cuts, bridges: bridges.length }).toEqual({ cuts: 3, bridges: 4 });
    } finally {
      await client.close();
    }
  });

  it("another client gets a session that a bridge without answer still holds", async () => {
    const { open, bridges } = createBridges();
    const first = open("exec-server");
    await first.send({ id: 1, method: "initialize", params: { clientName: "x" } });
    const answer = await first.receive();
    const { sessionId } = (answer as { value: { result: { sessionId: string } } }).value.result;
    bridges[0]!.kill("SIGSTOP");
    const second = open("exec-server");
    await second.send({ id: 1, method: "initialize", params: { clientName: "x", resumeSessionId: sessionId } });
    expect(await second.receive()).toMatchObject({ value: { result: { sessionId } } });
    bridges[0]!.kill("SIGKILL");
    await Promise.all([first.close(), second.close()]);
  });

  it("ends when it is idle, and says so in its log", async () => {
    await run(["exec-server", "--attach", "--idle-timeout", "0.05"]);
    await waitForLog(/"event":"stopping","cause":"idle"/);
    await waitForNoSocket();
    expect(await pidOf(["exec-server"])).toBeUndefined();
  });

  it("keeps variables of the ssh connection from the server, which outlives it", async () => {
    env = {
      ...env,
      SSH_CONNECTION: "1.2.3.4 5 6.7.8.9 22",
      SSH_AUTH_SOCK: "/tmp/ssh-x/agent.1",
      SSH_TTY: "/dev/pts/1",
    };
    const start = {
      processId: "p",
      argv: ["env"],
      cwd: "file:///",
      env: {},
      envPolicy: { inherit: "all" },
      tty: false,
    };
    const words = [HELLO, '{"method":"initialized","params":{}}\n'];
    const { stdout } = await run(
      ["exec-server", "--attach"],
      `${words.join("")}${JSON.stringify({ id: 2, method: "process/start", params: start })}\n` +
        `${JSON.stringify({ id: 3, method: "process/read", params: { processId: "p", waitMs: 2000 } })}\n`,
    );
    expect(stdout.toString()).toContain('"id":3');
    const pid = await pidOf(["exec-server"]);
    if (process.platform !== "linux") return;
    const environment = readFileSync(`/proc/${pid}/environ`, "latin1");
    expect(environment).toContain(`XDG_RUNTIME_DIR=${runtime}`);
    expect(environment).not.toMatch(/SSH_|sk-of-the-host/);
  });
});

const NO_NAMESPACE =
  spawnSync("unshare", ["--map-current-user", "--pid", "--fork", "true"]).status === 0
    ? ""
    : ": skipped, no namespaces";

it.skipIf(NO_NAMESPACE !== "")(
  `a confined process at the socket is told that it is not served${NO_NAMESPACE}`,
  async () => {
    await run(["exec-server", "--attach"], HELLO);
    const directory = join(runtime, "codex-ts");
    const socket = join(directory, readdirSync(directory).find((name) => name.endsWith(".sock"))!);
    const script = 'require("node:net").connect(process.argv[1]).pipe(process.stdout)';
    const child = spawn("unshare", ["--map-current-user", "--pid", "--fork", process.execPath, "-e", script, socket]);
    const { stdout } = await finish(child);
    expect(JSON.parse(stdout.toString())).toEqual({
      codexBackground: 1,
      refused: "it is in a process namespace of its own",
    });
  },
);

/** A user other than that of the server; only root can start a program as one. */
const STRANGER = { uid: 65_534, gid: 65_534 };
const NO_STRANGER = (() => {
  if (process.getuid?.() !== 0) return ": skipped, only root can become another user";
  const { status } = spawnSync(process.execPath, ["-e", ""], { ...STRANGER, cwd: "/", env: {} });
  return status === 0 ? "" : ": skipped, another user cannot run this Node";
})();

describe.skipIf(NO_STRANGER !== "")(`another user at the socket of codex exec-server --attach${NO_STRANGER}`, () => {
  /** What a program of a user reads from the socket after it has asked for a session there. */
  async function knock(socket: string, user: { uid?: number; gid?: number }): Promise<string> {
    const script = `
      const socket = require("node:net").connect(process.argv[1]);
      socket.on("error", ({ code }) => process.stdout.write("failed: " + code));
      socket.on("data", (bytes) => { process.stdout.write(bytes); socket.destroy(); });
      socket.write('{"codexBackground":1,"want":"serve"}\\n' + ${JSON.stringify(JSON.stringify(HELLO))});
    `;
    const child = spawn(process.execPath, ["-e", script, socket], { ...user, cwd: "/", env: {} });
    const { stdout } = await finish(child);
    return stdout.toString();
  }

  it("does not reach it, and is not served where its file lets everybody in", async () => {
    await run(["exec-server", "--attach"], HELLO);
    const pid = await pidOf(["exec-server"]);
    const directory = join(runtime, "codex-ts");
    const socket = join(directory, readdirSync(directory).find((name) => name.endsWith(".sock"))!);
    expect(await knock(socket, STRANGER)).toBe("failed: EACCES");
    for (const path of [runtime, directory]) chmodSync(path, 0o755);
    expect(await knock(socket, STRANGER)).toBe("failed: EACCES");
    chmodSync(socket, 0o666);
    expect(await knock(socket, STRANGER)).toMatch(
      /^(failed: (ECONNRESET|EPIPE)|.*"refused":"it belongs to user 65534"}\n)?$/,
    );
    expect(await knock(socket, {})).toContain('"codexBackground":1');
    for (const path of [runtime, directory]) chmodSync(path, 0o700);
    expect(await pidOf(["exec-server"])).toBe(pid);
    const log = readdirSync(directory).find((name) => name.endsWith(".log"))!;
    expect(readFileSync(join(directory, log), "utf8")).toContain("a client was refused");
  });
});

describe("codex executor --attach", () => {
  it("loses no line and counts none twice while its bridges are killed", { timeout: 120_000 }, async () => {
    const { open, cut, bridges } = createBridges();
    const orchestrator = createProgramRunner({});
    try {
      await orchestrator.attach({ name: "there", reconnect: async () => open("executor") });
      const argv = ["sh", "-c", "seq 1000000; exit 3"];
      const running = orchestrator.runCommand({ argv, env: { PATH: process.env.PATH ?? "" }, tty: false });
      let text = "";
      let cuts = 0;
      for await (const { bytes } of running.output) {
        text += Buffer.from(bytes).toString("latin1");
        if (cuts < 2 && bridges.length > cuts && text.length > (cuts + 1) * 300_000) {
          cuts += 1;
          cut();
        }
      }
      expect(text).toBe(`${Array.from({ length: 1_000_000 }, (_, index) => index + 1).join("\n")}\n`);
      expect(cuts).toBe(2);
      expect(await running.ended).toMatchObject({ kind: "ended", exitCode: 3 });
    } finally {
      await orchestrator.close();
    }
  });

  it("never joins a server with other bounds", async () => {
    const list = '{"type":"list_tools","requestId":"1"}\n';
    const words = ["executor", "--max-sandbox", "read-only"];
    await run([...words, "--attach"], list);
    await run(["executor", "--attach"], list);
    const [bounded, open] = [await pidOf(words), await pidOf(["executor"])];
    expect(bounded).toBeDefined();
    expect(open).toBeDefined();
    expect(bounded).not.toBe(open);
    await run([...words, "--attach", "--stop"]);
  });

  it("the reason why a server does not start is in the error", async () => {
    const { code, stderr } = await run(["executor", "--attach", "--max-sandbox", "workspace-write"]);
    expect(code).toBe(1);
    expect(stderr).toContain("the background server did not start: codex: --max-sandbox workspace-write needs");
  });

  it.each([
    [["--listen", "stdio://"], "--listen cannot be combined with --attach"],
    [["--token-file=x"], "--token-file cannot be combined with --attach"],
    [["--allowed-root", "."], '--allowed-root ".": with --attach it has to be absolute'],
  ])("%j is refused", async (words, message) => {
    const { code, stderr } = await run(["executor", "--attach", ...words]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });
});

/** Resolves with what `find` returns once that is not undefined, called at each change in the server's directory. */
async function waitForChange<T>(find: (directory: string, names: readonly string[]) => T | undefined): Promise<T> {
  const directory = join(runtime, "codex-ts");
  const watcher = watch(directory);
  try {
    for (;;) {
      const found = find(directory, readdirSync(directory));
      if (found !== undefined) return found;
      await once(watcher, "change");
    }
  } finally {
    watcher.close();
  }
}

const waitForLog = (pattern: RegExp): Promise<true> =>
  waitForChange((directory, names) => {
    const logs = names.filter((name) => name.endsWith(".log"));
    return logs.some((name) => pattern.test(readFileSync(join(directory, name), "utf8"))) || undefined;
  });

const waitForNoSocket = (): Promise<true> =>
  waitForChange((_directory, names) => !names.some((name) => name.endsWith(".sock")) || undefined);
