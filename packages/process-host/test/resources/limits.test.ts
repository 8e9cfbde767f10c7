// Limits of sessions, with real programs: what goes beyond one is ended or held back, and told; what is beside it goes on.
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecProcess, ProcessSpec } from "@codex/exec-backend";
import type { ResourceLimits } from "@codex/executor-protocol";
import { describe, expect, it, onTestFinished } from "vitest";
import { createLocalBackend, type LocalBackendOptions } from "../../src/local-backend.js";
import { findLimitSupport } from "../../src/resources/limiter.js";
import { ENV, outputOf, untilOutput } from "../support.js";

const { groups } = findLimitSupport();
const MIB = 1024 * 1024;

function open(options: LocalBackendOptions = {}) {
  const backend = createLocalBackend(options);
  onTestFinished(() => backend.close());
  return (script: string, limits?: ResourceLimits, spec: Partial<ProcessSpec> = {}) =>
    backend.start({
      argv: ["sh", "-c", script],
      cwd: "/tmp",
      env: ENV,
      stdio: { kind: "pipe", stdin: "open" },
      limits,
      ...spec,
    });
}

const node = (code: string) => `exec "${process.execPath}" -e '${code}'`;
const HOG = node("const held = []; for (;;) held.push(Buffer.alloc(8e6, 1));");

/** A disk on which writes are counted. */
function diskDirectory(): string {
  const directory = mkdtempSync(join(process.cwd(), "node_modules", ".limit-test-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

describe.skipIf(groups === undefined)("a limit that a control group holds", () => {
  it.each<[string, Partial<ProcessSpec>]>([
    ["on pipes", {}],
    ["on a terminal", { stdio: { kind: "pty" } }],
  ])("memory: a hog is ended %s, and its outcome names the limit", async (_how, spec) => {
    const run = open();
    const hog = await run(HOG, { memory: 200 * MIB }, spec);
    expect(await hog.exited).toEqual({
      kind: "signaled",
      signal: "SIGKILL",
      by: "limit",
      limit: { name: "memory", value: 200 * MIB },
    });
    expect(hog.resources?.reached).toEqual([{ name: "memory", value: 200 * MIB, times: 1 }]);
  });

  it("memory: a hog that the program has started ends the whole session", async () => {
    const run = open();
    const parent = await run(`${HOG.replace("exec ", "")} & sleep 600`, { memory: 200 * MIB });
    expect(await parent.exited).toMatchObject({ kind: "signaled", by: "limit", limit: { name: "memory" } });
  });

  it("memory: a program that stays below is left alone, and what it used is known", async () => {
    const run = open();
    const modest = await run(node("const held = Buffer.alloc(20e6, 1); setTimeout(() => held, 100);"), {
      memory: 400 * MIB,
    });
    await expect.poll(() => modest.resources?.use.memory ?? 0, { timeout: 10_000 }).toBeGreaterThan(20e6);
    expect(await modest.exited).toEqual({ kind: "exited", code: 0 });
    expect(modest.resources?.reached).toEqual([]);
    expect(modest.resources?.use.cpuTime).toBeGreaterThan(0);
  });

  it("processes: a fork bomb starts no more than its limit, is told, and a shell beside it answers", async () => {
    const run = open();
    const beside = await run("while read line; do echo got $line; done");
    const bomb = await run("bomb() { bomb | bomb & }; bomb; sleep 600", { processes: 40 });
    await expect
      .poll(() => bomb.resources?.reached, { timeout: 20_000 })
      .toMatchObject([{ name: "processes", value: 40 }]);
    expect(bomb.resources?.use.processes).toBeLessThanOrEqual(40);
    await beside.write(Buffer.from("one\n"));
    await untilOutput(beside, "got one");
    const { gone } = await bomb.terminate({ graceMs: 100 });
    expect(gone).toBe(true);
  });

  it("cpus: a busy loop gets its share, and how long it was held back is told", async () => {
    const run = open();
    const loop = await run("while :; do :; done", { cpus: 0.2 });
    await expect.poll(() => loop.resources?.reached[0]?.seconds ?? 0, { timeout: 20_000 }).toBeGreaterThan(0.5);
    const seconds = (performance.now() - loop.startedAt) / 1000;
    expect(loop.resources?.use.cpuTime).toBeLessThan(seconds * 0.5);
    await loop.terminate({ graceMs: 0 });
    expect(loop.outcome).toMatchObject({ kind: "signaled", by: "terminate" });
  });

  it("disk: a filler of many files is ended soon after its limit", async () => {
    const run = open();
    const directory = diskDirectory();
    const script = `n=0; while :; do n=$((n+1)); dd if=/dev/zero of=${directory}/$n bs=1M count=4 2>/dev/null; done`;
    const filler = await run(script, { disk: 32 * MIB });
    expect(await filler.exited).toMatchObject({
      kind: "signaled",
      by: "limit",
      limit: { name: "disk", value: 32 * MIB },
    });
    expect(existsSync(join(directory, "3"))).toBe(true);
  });

  it("the limits of the host hold where those of a start are not stricter", async () => {
    const run = open({ limits: { memory: 200 * MIB, processes: 30 } });
    const hog = await run(HOG, { memory: 8000 * MIB });
    expect(await hog.exited).toMatchObject({ by: "limit", limit: { value: 200 * MIB } });
    const stricter = await run(HOG, { memory: 100 * MIB });
    expect(await stricter.exited).toMatchObject({ by: "limit", limit: { value: 100 * MIB } });
  });

  it("in a sandbox as well", async () => {
    const run = open();
    const file_system = {
      type: "restricted",
      entries: [{ path: { type: "special", value: { kind: "root" } }, access: "read" }],
    };
    const sandbox = {
      permissions: { type: "managed", file_system, network: "restricted" },
      sandboxPolicyCwd: "/tmp",
    } as never;
    const hog = await run(HOG, { memory: 200 * MIB }, { sandbox });
    expect(await hog.exited).toMatchObject({ kind: "signaled", signal: "SIGKILL", by: "limit" });
  });

  it("no group is left behind", async () => {
    const backend = createLocalBackend({ limits: { processes: 20 } });
    const start = (script: string) =>
      backend.start({ argv: ["sh", "-c", script], cwd: "/tmp", env: ENV, stdio: { kind: "pipe", stdin: "null" } });
    const children = await Promise.all(["true", "sleep 600 & exit 3", "sleep 600"].map(start));
    expect(await children[1]!.exited).toEqual({ kind: "exited", code: 3 });
    expect(listGroups().length).toBeGreaterThan(0);
    await backend.close();
    expect(listGroups()).toEqual([]);
  });
});

/** The control groups of this process. */
function listGroups(): string[] {
  const base = groups === 1 ? "/sys/fs/cgroup/pids" : "/sys/fs/cgroup";
  return readdirSync(base, { recursive: true })
    .map(String)
    .filter((name) => name.includes(`codex-${process.pid}-`) && !name.endsWith("cgroup.procs"))
    .filter((name) => /codex-\d+-\d+$/.test(name));
}

describe("a limit of the system", () => {
  const end = async (child: ExecProcess) => [await child.exited, await outputOf(child)] as const;

  it("time: a program is asked to end, and its outcome names the limit", async () => {
    const run = open();
    const [outcome] = await end(await run("sleep 600", { time: 1 }));
    expect(outcome).toEqual({ kind: "signaled", signal: "SIGTERM", by: "limit", limit: { name: "time", value: 1 } });
  });

  it("time: a program that ends by itself when asked has the exit code that it wants", async () => {
    const run = open();
    const child = await run("trap 'echo asked; exit 5' TERM; while :; do sleep 0.05; done", { time: 1 });
    const [outcome, output] = await end(child);
    expect(outcome).toEqual({ kind: "exited", code: 5 });
    expect(output).toContain("asked\n");
    expect(child.resources?.reached).toEqual([{ name: "time", value: 1 }]);
  });

  it("open files: a program cannot open more", async () => {
    const run = open();
    expect(await end(await run("ulimit -n; ulimit -Hn", { openFiles: 64 }))).toEqual([
      { kind: "exited", code: 0 },
      "64\n64\n",
    ]);
  });

  it("disk: a file cannot grow beyond it, and the outcome names the limit", async () => {
    const run = open();
    const directory = diskDirectory();
    const [outcome] = await end(
      await run(`exec dd if=/dev/zero of=${directory}/one bs=64k count=100 2>/dev/null`, { disk: MIB }),
    );
    expect(outcome).toEqual({ kind: "signaled", signal: "SIGXFSZ", by: "limit", limit: { name: "disk", value: MIB } });
    expect(statSync(join(directory, "one")).size).toBe(MIB);
  });

  it("the variables of a program change nothing of how its limits are set", async () => {
    const run = open();
    const file = join(diskDirectory(), "startup");
    writeFileSync(file, "echo startup\n");
    const env = {
      ...ENV,
      BASH_ENV: file,
      ENV: file,
      "BASH_FUNC_ulimit%%": "() { :; }",
      "BASH_FUNC_exec%%": "() { :; }",
    };
    const named = { argv: ["/bin/sh", "-c", "ulimit -n"], arg0: "other" };
    expect(await end(await run("", { openFiles: 64 }, { ...named, env }))).toEqual([
      { kind: "exited", code: 0 },
      "64\n",
    ]);
  });

  it("a program keeps its name, its arguments, its input and its exit code", async () => {
    const run = open();
    const child = await run(
      'echo "$0|$1|$2"; cat; exit 7',
      { openFiles: 64 },
      { argv: ["sh", "-c", 'echo "$1|$2"; cat; exit 7', "x", "a b", "$(c)'"] },
    );
    await child.write(Buffer.from("typed"));
    await child.closeStdin();
    expect(await end(child)).toEqual([{ kind: "exited", code: 7 }, "a b|$(c)'\ntyped"]);
    const named = await run(
      "",
      { openFiles: 64 },
      {
        argv: [
          "/bin/sh",
          "-c",
          "tr '\\0' ' ' </proc/self/cmdline; echo; cat /proc/$$/cmdline | tr '\\0' ' ' | cut -c1-5",
        ],
        arg0: "-sh",
      },
    );
    expect((await end(named))[1]).toMatch(/\n-sh -\n$/);
  });
});
