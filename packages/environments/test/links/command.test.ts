import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { systemClock } from "@codex/clock";
import { createOrchestrator } from "@codex/orchestrator";
import { describe, expect, it, onTestFinished } from "vitest";
import { ENV, outputOf, untilGone } from "../../../process-host/test/support.js";
import { createCommandLink, createRemoteEnvironment, type Environment, type LinkedCommand } from "../../src/index.js";
import { hostTools } from "../support.js";

/** The built command; `scripts/test` builds it before the tests. */
const codex = fileURLToPath(new URL("../../../cli/dist/codex.js", import.meta.url));

const serverCommand = { program: process.execPath, args: [codex, "exec-server", "--listen", "stdio"] };
const PIPE = { kind: "pipe", stdin: "null" } as const;

function open(command: LinkedCommand, initializeTimeoutMs?: number): Environment {
  const environment = createRemoteEnvironment({
    id: "remote",
    kind: "command",
    link: createCommandLink(command),
    hostTools,
    random: () => 0,
    initializeTimeoutMs,
  });
  onTestFinished(() => environment.close());
  return environment;
}

function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "cmd-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Programs that do not end by themselves are ended ten times as soon. */
const HURRIED = {
  clock: { ...systemClock, after: (ms: number, run: () => void) => systemClock.after(ms / 10, run) },
};

/** A program of a few lines. */
const script = (text: string): LinkedCommand => ({ program: process.execPath, args: ["-e", text] });

/** What a program has got, as the reason why it is no server. */
async function askProgram(text: string, command: Partial<LinkedCommand>): Promise<string> {
  const environment = open({ ...script(`process.stderr.write(${text}); process.exit(3)`), ...command });
  const error: unknown = await environment.connect().catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ name: "EnvironmentError", code: "program_failed" });
  return environment.state.reason ?? "";
}

describe("a program whose target is gone for good", () => {
  const gone = (marker: string, exitCode: number, served: string) => {
    const line = `if [ -e ${marker} ]; then echo no such container >&2; exit ${exitCode}; fi; exec "$0" "$1" ${served}`;
    return { program: "/bin/sh", args: ["-c", line, process.execPath, codex] };
  };

  it.each(["exec-server --listen stdio", "executor"])(
    "ends its sessions at once, and says why (%s)",
    async (served) => {
      const marker = join(makeDirectory(), "gone");
      const environment = open(gone(marker, 1, served));
      const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
      const orchestrator = createOrchestrator({ policy, defaults: { login: false, shell: "sh" } });
      onTestFinished(() => orchestrator.close());
      await environment.attach(orchestrator);
      const { text } = await orchestrator.callTool("exec_command", { cmd: "echo $PPID; sleep 60", yield_time_ms: 400 });
      const session = /session ID (\d+)/.exec(text)?.[1];
      const server = Number(/^\d+$/m.exec(text.split("Output:")[1] ?? "")?.[0]);
      writeFileSync(marker, "");
      const began = performance.now();
      const polled = orchestrator.callTool("write_stdin", { session_id: Number(session), yield_time_ms: 60_000 });
      process.kill(server, "SIGKILL");
      const result = await polled;
      expect(performance.now() - began).toBeLessThan(15_000);
      expect(result.text).toMatch(/exited with code 1; last on its stderr: no such container/);
    },
  );
});

describe("a program", () => {
  it("may be an executor", async () => {
    const environment = open({ program: process.execPath, args: [codex, "executor"] });
    const policy = { approvalPolicy: "never", sandbox: "danger-full-access" } as const;
    const orchestrator = createOrchestrator({ policy, defaults: { login: false, shell: "sh" } });
    onTestFinished(() => orchestrator.close());
    await environment.attach(orchestrator);
    expect(environment.serves).toBe("executor");
    expect(await orchestrator.callTool("exec_command", { cmd: "echo tool" })).toMatchObject({ isError: false });
  });

  it("gets the core and named variables of the host, and no secret", async () => {
    const hostEnv = {
      ...{ HOME: "/home/me", PATH: "/bin", CODEX_HOME: "/home/me/.codex", XDG_RUNTIME_DIR: "/run/me" },
      ...{
        OPENAI_API_KEY: "sk-1",
        AWS_SECRET: "s-2",
        GH_TOKEN: "t-3",
        SSH_AUTH_SOCK: "/agent",
        OTHER: "o",
        NAMED_KEY: "n",
      },
    };
    const names = "Object.keys(process.env).sort().join(' ')";
    const reason = await askProgram(names, { hostEnv, env: { MINE: "1" }, inherit: ["NAMED_KEY"] });
    expect(reason).toContain("its stderr: CODEX_HOME HOME MINE NAMED_KEY PATH XDG_RUNTIME_DIR");
    expect(reason).not.toMatch(/sk-1|OPENAI|AWS|GH_|SSH_|OTHER/);
  });

  it("does not show its secrets in an error, even if it prints them", async () => {
    const text = "process.env.MY_TOKEN + ' ' + process.env.HOST_KEY + ' is wrong'";
    const env = { MY_TOKEN: "tok-123" };
    const reason = await askProgram(text, { env, inherit: ["HOST_KEY"], hostEnv: { HOST_KEY: "key-456" } });
    expect(reason).toContain("… … is wrong");
  });

  it("does not show them in its log either, nor those among its arguments", async () => {
    const lines: string[] = [];
    const text = "[process.env.DB_PASSWORD, ...process.argv.slice(1)].join(' ') + '\\n'";
    const reason = await askProgram(text, {
      env: { DB_PASSWORD: "pass-1" },
      args: [
        ...["-e", `process.stderr.write(${text}); process.exit(3)`, "--"],
        ...["--token", "tok-2", "--api-key=key-3", "MY_SECRET=sec-4", "ws://u:pass-5@h/?k=query-6", "plain"],
      ],
      onLine: (line) => lines.push(line),
    });
    for (const shown of [reason, ...lines]) {
      expect(shown).toMatch(/… --token … --api-key=… MY_SECRET=… ws:\/\/h\/ plain$/);
    }
    expect(lines).toHaveLength(1);
  });

  it.each([
    ["at the start of what is kept", "'TOKEN' + 'x'.repeat(2048 - 12)", []],
    ["in parts, and at the end of a long line", "'y'.repeat(1020) + 'TOKEN\\n'", [1021]],
    ["percent-encoded and in base64", "encodeURIComponent('TOKEN') + ' ' + btoa('me:TOKEN')", []],
  ])("shows no part of a secret %s", async (_name, text, lengths) => {
    const secret = "made/up+0123456789-Ä";
    const lines: string[] = [];
    const program = `
      const text = Buffer.from((${text}).replace("TOKEN", process.env.MY_TOKEN));
      const half = text.length - 14;
      process.stderr.write(text.subarray(0, half), () => setTimeout(() => process.stderr.write(text.subarray(half), () => process.exit(3)), 50));`;
    const encoded = program
      .replace("btoa('me:TOKEN')", "Buffer.from('me:' + process.env.MY_TOKEN).toString('base64')")
      .replace("encodeURIComponent('TOKEN')", "encodeURIComponent(process.env.MY_TOKEN)");
    const environment = open({ ...script(encoded), env: { MY_TOKEN: secret }, onLine: (line) => lines.push(line) });
    await environment.connect().catch(() => {});
    const shown = `${environment.state.reason} ${lines.join(" ")}`;
    expect(shown).toContain("exited with code 3");
    for (const part of ["made", "456789", "0123", Buffer.from("up+01234").toString("base64").slice(2, -2), "%2Fup"]) {
      expect(shown).not.toContain(part);
    }
    expect(lines.map(({ length }) => length)).toEqual(lengths);
  });

  it("reports its stderr also when that is read after its exit", async () => {
    const write = "setTimeout(() => { process.stderr.write('the last words'); }, 200)";
    const text = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(write)}], { stdio: 'inherit', detached: true }); process.exit(3)`;
    const environment = open(script(text));
    await environment.connect().catch(() => {});
    expect(environment.state.reason).toContain("exited with code 3; last on its stderr: the last words");
  });

  it("runs in its directory; a relative one is resolved against the settings directory", async () => {
    const home = makeDirectory();
    mkdirSync(join(home, "sub"));
    expect(await askProgram("process.cwd()", { home, cwd: "sub" })).toContain(join(home, "sub"));
    expect(await askProgram("process.cwd()", { home, cwd: "/" })).toMatch(/stderr: \/$/);
  });

  it("reports every line of its stderr, truncated", async () => {
    const lines: string[] = [];
    await askProgram("'one\\ntwo ' + 'x'.repeat(5000) + '\\n'", { onLine: (line) => lines.push(line) });
    expect(lines.map((line) => [line.slice(0, 5), line.length])).toEqual([
      ["one", 3],
      ["two x", 1024],
    ]);
  });

  it.each([
    [
      "a program that is missing",
      { program: "/nonexistent/server" },
      "`/nonexistent/server` could not be started: there is no such program",
    ],
    ["a directory that is missing", { ...serverCommand, cwd: "/nonexistent" }, "there is no directory /nonexistent"],
    [
      "a program that fails",
      script("console.error('no licence'); process.exit(3)"),
      "exited with code 3; last on its stderr: no licence",
    ],
    ["a program that is killed", script("process.kill(process.pid, 'SIGKILL')"), "was ended by SIGKILL"],
    [
      "a program that closes its stdout",
      { ...script("require('fs').closeSync(1); setInterval(() => {}, 1000)"), ...HURRIED },
      "closed its stdout",
    ],
  ])("the reason names %s", async (_name, command, reason) => {
    const environment = open(command);
    await expect(environment.connect()).rejects.toMatchObject({ code: "program_failed" });
    expect(environment.state).toMatchObject({ status: "failed", reason: expect.stringContaining(reason) });
  });
});

it("reports output that is not a server's message, such as a shell greeting", async () => {
  const greeting = script("console.log('Welcome to box'); setInterval(() => {}, 1000)");
  const environment = open({ ...greeting, ...HURRIED }, 1000);
  await expect(environment.connect()).rejects.toMatchObject({
    code: "handshake_failed",
    reason: "the peer is neither an exec-server nor an executor: it printed 14 bytes of text, and no message",
  });
});

describe("a program that is killed", () => {
  it("is started again, and its processes are lost", async () => {
    const environment = open(serverCommand);
    const spec = { cwd: "/", env: ENV, stdio: PIPE };
    const sleeping = await environment.backend.start({ ...spec, argv: ["sh", "-c", "echo $PPID; exec sleep 60"] });
    await sleeping.log.waitFor(0);
    const { chunks } = await sleeping.log.read(0);
    const first = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString();
    process.kill(Number(first), "SIGKILL");
    expect(await sleeping.exited).toMatchObject({ kind: "lost" });
    const again = await environment.backend.start({ ...spec, argv: ["sh", "-c", "echo $PPID"] });
    expect(await outputOf(again)).not.toBe(first);
    expect(environment.state.status).toBe("ready");
  });

  it("loses and repeats no byte if the remote side keeps the session", { timeout: 120_000 }, async () => {
    const runtime = makeDirectory();
    const args = [codex, "exec-server", "--attach"];
    const hostEnv = { ...process.env, XDG_RUNTIME_DIR: runtime };
    const pids = join(runtime, "pids");
    const wrapper = { program: "sh", args: ["-c", 'echo $$ >>"$0"; exec "$@"', pids, process.execPath, ...args] };
    onTestFinished(async () => {
      await once(spawn(process.execPath, [...args, "--stop"], { env: hostEnv, stdio: "ignore" }), "exit");
    });
    const environment = open({ ...wrapper, hostEnv });
    const states: string[] = [];
    environment.onStateChange(({ status }) => states.push(status));
    const lines = 2_000_000;
    const argv = ["sh", "-c", `seq ${lines}; exit 7`];
    const counter = await environment.backend.start({ argv, cwd: "/", env: ENV, stdio: PIPE });
    const parts: Buffer[] = [];
    let bytes = 0;
    let cuts = 0;
    for await (const chunk of counter.log.follow()) {
      parts.push(Buffer.from(chunk.bytes));
      bytes += chunk.bytes.length;
      const started = readFileSync(pids, "utf8").trim().split("\n");
      if (cuts < 2 && started.length > cuts && environment.state.status === "ready" && bytes > (cuts + 1) * 500_000) {
        cuts += 1;
        process.kill(Number(started.at(-1)), "SIGKILL");
      }
    }
    const expected = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("");
    expect(Buffer.concat(parts).toString("latin1") === expected).toBe(true);
    expect(await counter.exited).toEqual({ kind: "exited", code: 7 });
    expect(cuts).toBe(2);
    // The last output may come while its session is being resumed.
    await environment.connect();
    const resumed = ["reconnecting", "ready"];
    await expect.poll(() => states).toEqual(["connecting", "ready", ...resumed, ...resumed]);
  });
});

describe("ending", () => {
  const STUBBORN = 'trap "" TERM; sleep 1000 & echo $$ $!; while :; do sleep 1; done';

  it("ends the group of a program that has exited by itself", async () => {
    const directory = makeDirectory();
    const environment = open({ program: "sh", args: ["-c", 'sleep 1000 & echo $! >"$0/pid"; exit 1', directory] });
    await expect(environment.connect()).rejects.toThrow("exited with code 1");
    expect(await untilGone(Number(readFileSync(join(directory, "pid"), "utf8")))).toBe(true);
  });

  it("ends a program that ignores the end of its input and SIGTERM", { timeout: 60_000 }, async () => {
    const directory = makeDirectory();
    const program = { program: "sh", args: ["-c", `{ ${STUBBORN}; } >"$0/pids"`, directory] };
    const link = createCommandLink({ ...program, ...HURRIED });
    const { channel } = await link.open(new AbortController().signal);
    await expect.poll(() => readFileSync(join(directory, "pids"), "utf8")).toMatch(/\n/);
    await link.close?.();
    await channel.close();
    for (const pid of readFileSync(join(directory, "pids"), "utf8").trim().split(" ")) {
      expect(await untilGone(Number(pid), 20_000)).toBe(true);
    }
  });

  it("also ends it after this process was killed", { timeout: 60_000 }, async () => {
    const source = new URL("../../dist/index.js", import.meta.url).href;
    const text = `
      const { createCommandLink } = await import(${JSON.stringify(source)});
      const args = ["-c", ${JSON.stringify(`{ ${STUBBORN}; } >&2`)}];
      const link = createCommandLink({ program: "sh", args, onLine: (line) => console.log(line) });
      await link.open(new AbortController().signal);`;
    const owner = spawn(process.execPath, ["--input-type=module", "-e", text], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: owner.stdout }), "line")) as [string];
    owner.kill("SIGKILL");
    for (const pid of line.split(" ")) {
      expect(await untilGone(Number(pid), 20_000)).toBe(true);
    }
  });
});
