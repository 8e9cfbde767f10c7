// Programs of a sandboxed process that a rule starts outside of its sandbox.
import { fork } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readlinkSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { ExecProcess, ProcessSpec, ProgramQuestions } from "@codex/exec-backend";
import type { ExecGate, OutsideProfile, Sandbox } from "@codex/executor-protocol";
import { readProcessStat } from "@codex/native";
import { createCommandSandbox } from "@codex/sandbox";
import { describe, expect, it, onTestFinished } from "vitest";
import { isAlive, outputOf, untilGone, untilOutput, useBackend } from "./support.js";

const support = await createCommandSandbox().getSupport();
const canLeave = support.kind === "bubblewrap" && process.arch === "x64";
const HOST = fileURLToPath(new URL("programs/outside-host.mjs", import.meta.url));

type Decision = ExecGate["rules"][number]["decision"];

describe.runIf(canLeave)("a program outside of its sandbox", () => {
  const { run } = useBackend();
  const makeDirectory = () => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "codex-outside-")));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    return directory;
  };
  interface Options {
    profile?: OutsideProfile;
    decision?: Decision;
    programs?: readonly string[];
    stdio?: ProcessSpec["stdio"];
    questions?: ProgramQuestions;
    out?: string;
    sandbox?: Sandbox;
  }
  /** In a sandbox that may write in a directory of its own, and reaches no network. */
  const start = async (script: string, { programs = ["touch"], ...options }: Options) => {
    const [cwd, out] = [makeDirectory(), options.out ?? makeDirectory()];
    const { profile = "unrestricted", decision = "allow" } = options;
    const rules = programs.map((name) => ({
      id: name,
      pattern: [[name]],
      decision,
      place: { kind: "outside", profile } as const,
    }));
    const path = (place: string) => ({ type: "path" as const, path: place });
    const started = await run(["/bin/bash", "-c", script], {
      cwd,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", OUT: out, LC_ALL: "C" },
      stdio: options.stdio ?? { kind: "pipe", stdin: "null" },
      gate: { rules, hostExecutables: [], approved: [] },
      programQuestions: options.questions,
      sandbox: options.sandbox ?? {
        permissions: {
          type: "managed",
          network: "restricted",
          file_system: {
            type: "restricted",
            entries: [
              { path: path("/"), access: "read" },
              { path: path(cwd), access: "write" },
            ],
          },
        },
      },
    });
    return { started, out };
  };

  it("writes where nothing of its sandbox can", async () => {
    const { started, out } = await start("touch $OUT/f; echo $?; cp /dev/null $OUT/g 2>/dev/null; echo $?", {});
    expect(await outputOf(started)).toBe("0\n1\n");
    expect([existsSync(join(out, "f")), existsSync(join(out, "g"))]).toEqual([true, false]);
    expect(started.gate).toMatchObject({
      kind: "held",
      reports: [{ decision: "outside", reason: "rule", rule: "touch", exitCode: 0 }],
    });
  });

  it("writes only what its profile adds", async () => {
    const out = makeDirectory();
    const script = "touch f $OUT/f; echo $?; touch $OUT.not 2>/dev/null; echo $?";
    const { started } = await start(script, { profile: { write: [out] }, out });
    expect(await outputOf(started)).toBe("0\n1\n");
    expect(existsSync(join(out, "f"))).toBe(true);
    expect(started.denial).toBeUndefined();
  });

  it("has the network that its profile adds", async () => {
    const script = "readlink /proc/self/ns/net; cat /proc/self/ns/net 2>/dev/null; /usr/bin/readlink /proc/self/ns/net";
    const { started } = await start(script, { profile: "network", programs: ["/usr/bin/readlink"] });
    const [first, second] = (await outputOf(started)).split("\n");
    expect([first, second]).toEqual([readlinkSync("/proc/self/ns/net"), readlinkSync("/proc/self/ns/net")]);
  });

  it("does not leave a sandbox that can change every program", async () => {
    const permissions = { type: "managed", network: "restricted", file_system: { type: "unrestricted" } } as const;
    const { started } = await start("/usr/bin/readlink /proc/self/ns/net", {
      profile: "network",
      programs: ["/usr/bin/readlink"],
      sandbox: { permissions },
    });
    expect(await outputOf(started)).not.toBe(`${readlinkSync("/proc/self/ns/net")}\n`);
    expect(started.gate).toMatchObject({ reports: [] });
  });

  it("runs once somebody has approved it", async () => {
    const questions = { most: 8, timeoutMs: 60_000, ask: async () => "outside" as const };
    const { started, out } = await start("touch $OUT/f; echo $?", { decision: "ask", questions });
    expect(await outputOf(started)).toBe("0\n");
    expect(existsSync(join(out, "f"))).toBe(true);
  });

  it("ends when its process is terminated", async () => {
    const script = "sh -c 'echo $$; trap \"\" TERM; while :; do sleep 1; done' & wait";
    const { started } = await start(script, { programs: ["sh"] });
    const pid = Number((await untilOutput(started, "\n")).trim());
    expect(isAlive(pid)).toBe(true);
    await started.terminate({ graceMs: 0 });
    expect(await untilGone(pid, 1_000)).toBe(true);
  });

  it("uses the terminal of its caller, and is interrupted there", async () => {
    const script = "sh -c 'stty size; read line; echo $$ got $line; exec sleep 300'";
    const stdio = { kind: "pty", size: { rows: 33, cols: 77 } } as const;
    const { started } = await start(script, { programs: ["sh"], stdio });
    await untilOutput(started, "33 77");
    await started.write(Buffer.from("typed\n"));
    const pid = Number(/(\d+) got typed/.exec(await untilOutput(started, "got typed"))?.[1]);
    expect(isAlive(pid)).toBe(true);
    await started.write(Buffer.from("\x03"));
    expect(await started.exited).toEqual({ kind: "exited", code: 130 });
    expect(await untilGone(pid, 1_000)).toBe(true);
  });

  it("is a job of its shell: stopped, continued in the background, ended", async () => {
    const { started } = await start("exec bash --norc -i", { programs: ["sh"], stdio: { kind: "pty" } });
    const type = (text: string) => started.write(Buffer.from(text));
    await type("sh -c 'echo pid=$$; exec sleep 300'\n");
    const pid = Number(/pid=(\d+)/.exec(await untilMatch(started, /pid=\d+/))?.[1]);
    const untilState = async (state: string) => {
      while (readProcessStat(pid)?.state !== state) await setTimeout(5);
    };
    await type("\x1a");
    await untilOutput(started, "Stopped");
    await untilState("T");
    await type("bg\n");
    await untilState("S");
    await type("kill %1; wait; exit 7\n");
    expect(await started.exited).toEqual({ kind: "exited", code: 7 });
    expect(await untilGone(pid, 1_000)).toBe(true);
  });

  it("ends with its host", async () => {
    const host = fork(HOST, [], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    const [line] = (await once(createInterface({ input: host.stdout! }), "line")) as [string];
    expect(isAlive(Number(line))).toBe(true);
    host.kill("SIGKILL");
    expect(await untilGone(Number(line), 1_000)).toBe(true);
  });
});

async function untilMatch(started: ExecProcess, pattern: RegExp): Promise<string> {
  for (;;) {
    const { chunks } = await started.log.read(0, started.log.end);
    const output = Buffer.concat(chunks.map(({ bytes }) => bytes)).toString();
    if (pattern.test(output)) return output;
    await started.log.waitFor(started.log.end + 1);
  }
}
