import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { codex, codexWords, finish, useCommand } from "./support.js";

const directory = mkdtempSync(join(tmpdir(), "inspector-"));
afterAll(() => rmSync(directory, { recursive: true }));

/** Before the first line of a program, twice: Node's own handler starts the inspector then. */
const signalled = join(directory, "signalled.cjs");
writeFileSync(signalled, 'process.kill(process.pid, "SIGUSR1"); process.kill(process.pid, "SIGUSR1");');

/** On ports of their own: many tests run at once. Quoted for directories with blanks. */
const STARTED_WITH = { NODE_OPTIONS: "--inspect=127.0.0.1:0" };
const ASKED_BEFORE = { NODE_OPTIONS: `--require ${JSON.stringify(signalled)} --inspect-port=0` };
const ASKED_LATER = { NODE_OPTIONS: "--inspect-port=0" };

/** Ports of the inspectors that a program has said it has. */
const announced = (stderr: string): number[] =>
  [...stderr.matchAll(/Debugger listening on ws:\/\/127\.0\.0\.1:(\d+)\//g)].map(([, port]) => Number(port));

const isOpen = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true));
    socket.on("connect", () => socket.destroy()).on("error", () => resolve(false));
  });

/** What it says on stderr, so far. */
function collect(child: ChildProcessWithoutNullStreams): () => string {
  let text = "";
  child.stderr.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  return () => text;
}

async function expectNone(stderr: () => string): Promise<void> {
  await expect.poll(async () => (await Promise.all(announced(stderr()).map(isOpen))).filter(Boolean)).toEqual([]);
}

describe("no inspector", () => {
  const command = useCommand();
  const servers = [
    ["executor", ["executor", "--listen", "ws://127.0.0.1:0"]],
    ["exec-server", ["exec-server", "--listen", "ws://127.0.0.1:0"]],
  ] as const;
  const reasons = [
    ["started with --inspect", STARTED_WITH],
    ["that got SIGUSR1 before its first line", ASKED_BEFORE],
  ] as const;

  for (const [name, args] of servers) {
    it.each(reasons)(`is left of codex ${name} %s`, async (_reason, env) => {
      const child = command.start(args, env);
      const stderr = collect(child);
      await once(createInterface({ input: child.stdout }), "line");
      await expectNone(stderr);
    });

    it(`comes when codex ${name} is asked by SIGUSR1`, async () => {
      const child = command.start(args, ASKED_LATER);
      const stderr = collect(child);
      await once(createInterface({ input: child.stdout }), "line");
      for (let count = 0; count < 5; count += 1) child.kill("SIGUSR1");
      // An inspector is there before the process ends by a later signal.
      child.kill("SIGTERM");
      await once(child, "close");
      expect(child.signalCode).toBe(null);
      expect(announced(stderr())).toEqual([]);
    });
  }

  it.each([
    ["run", ["run", "-T", "--", "sh", "-c"]],
    ["run with another process as executor", ["run", "-T", "--executor", `${codexWords} executor`, "--", "sh", "-c"]],
  ] as const)("comes when a command of codex %s sends SIGUSR1 to the processes above it", async (_name, args) => {
    const script = `pid=$PPID; while [ "$pid" != ${process.pid} ]; do kill -USR1 "$pid"; pid=$(ps -o ppid= -p "$pid" | tr -d ' '); done; for i in 1 2 3 4 5 6 7 8 9; do sh -c :; done; kill -0 $PPID && echo alive`;
    const { stdout, stderr, code } = await finish(command.start([...args, script], ASKED_LATER));
    expect({ code, stdout: stdout.toString() }).toEqual({ code: 0, stdout: "alive\n" });
    expect(announced(stderr)).toEqual([]);
  });

  it("is in what a command inherits", async () => {
    const env = { NODE_OPTIONS: "--inspect=127.0.0.1:0 --no-warnings" };
    const { stdout } = await finish(command.start(["run", "-T", "--", "sh", "-c", 'echo "$NODE_OPTIONS"'], env));
    expect(stdout.toString()).toBe("--no-warnings\n");
  });

  it.each(reasons)("is left of the program that makes file calls %s", async (_reason, env) => {
    const helper = join(dirname(codex), "parts", "file-helper.cjs");
    const child = spawn(process.execPath, [helper], { env: { ...process.env, ...env } });
    try {
      const stderr = collect(child);
      await expect.poll(() => announced(stderr()).length).toBeGreaterThan(0);
      await expectNone(stderr);
      child.stdin.end();
      expect(await once(child, "close")).toEqual([0, null]);
    } finally {
      child.kill("SIGKILL");
    }
  });
});
