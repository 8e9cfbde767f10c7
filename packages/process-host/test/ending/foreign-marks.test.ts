import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { ExecBackend, ExecProcess, ProcessSpec } from "@codex/exec-backend";
import { afterEach, describe, expect, it } from "vitest";
import { NO_BUBBLEWRAP, READ_ALL, restrict } from "../../../sandbox/test/support.js";
import { createLocalBackend } from "../../src/local-backend.js";
import { ENV, isAlive, untilOutput } from "../support.js";

/** As `ulimit -x` shows it. */
const markOf = (pid: number | undefined): string =>
  /^Max file locks +(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, "latin1"))![1]!;

const isLinux = process.platform === "linux";
const hosts: ExecBackend[] = [];
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});
const open = (): ExecBackend => {
  const host = createLocalBackend({ closeGraceMs: 0 });
  hosts.push(host);
  return host;
};

const run = async (host: ExecBackend, script: string, spec: Partial<ProcessSpec> = {}): Promise<ExecProcess> => {
  const argv = ["bash", "-c", `${script}\necho ready; sleep 300 & wait`];
  const started = await host.start({ argv, cwd: "/", env: ENV, stdio: { kind: "pipe", stdin: "null" }, ...spec });
  await untilOutput(started, "ready");
  return started;
};

/** Takes a mark and gives it to a process that has left its group, and that a short-lived one has started. */
const take = (mark: string): string => `ulimit -S -x ${mark} && (setsid sleep 300 &) && setsid sleep 300 &`;

const places: readonly (readonly [string, Partial<ProcessSpec>])[] = [
  ["in no sandbox", {}],
  ...(NO_BUBBLEWRAP === undefined ? ([["in a sandbox", { sandbox: restrict([READ_ALL]) }]] as const) : []),
];

describe.skipIf(!isLinux)(`a mark that was taken${isLinux ? "" : ": skipped, marks are for Linux"}`, () => {
  it.each(places)("from another connection ends nothing there: %s", async (_name, spec) => {
    const victim = await run(open(), "");
    const thief = await run(open(), take(markOf(victim.pid)), spec);
    expect(await thief.terminate({ graceMs: 0 })).toMatchObject({ gone: true });
    expect(isAlive(victim.pid!)).toBe(true);
    expect(victim.outcome).toEqual({ kind: "running" });
  });

  it.each(places)("from another session of the same connection ends nothing there: %s", async (_name, spec) => {
    const host = open();
    const victim = await run(host, "");
    const thief = await run(host, take(markOf(victim.pid)), spec);
    expect(await thief.terminate({ graceMs: 0 })).toMatchObject({ gone: true });
    expect(isAlive(victim.pid!)).toBe(true);
  });
});

describe.skipIf(NO_BUBBLEWRAP !== undefined)(`a mark taken in a sandbox (${NO_BUBBLEWRAP ?? "bubblewrap"})`, () => {
  const sandbox = restrict([READ_ALL]);

  it("from another executor ends nothing there", async () => {
    const program = fileURLToPath(new URL("../programs/strays-host.mjs", import.meta.url));
    const other = fork(program, [], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    try {
      const [line] = (await once(createInterface({ input: other.stdout! }), "line")) as [string];
      const pids = JSON.parse(line) as number[];
      const thief = await run(open(), take(markOf(pids[0]!)), { sandbox });
      await thief.terminate({ graceMs: 0 });
      expect(pids.map(isAlive)).toEqual(pids.map(() => true));
    } finally {
      other.kill("SIGKILL");
      await once(other, "exit");
    }
  });

  it("makes nobody part of the session that it was taken from", async () => {
    const host = open();
    const victim = await run(host, "");
    const thief = await run(open(), take(markOf(victim.pid)), { sandbox });
    const same = await run(host, take(markOf(victim.pid)), { sandbox });
    const receipt = await victim.terminate({ graceMs: 0 });
    expect(receipt.strays).toEqual([]);
    const sleepers = [thief, same].map(({ pid }) => execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" }));
    for (const init of sleepers) expect(isAlive(Number(init))).toBe(true);
    for (const { outcome } of [thief, same]) expect(outcome).toEqual({ kind: "running" });
  });

  it("saves nothing from its own end", async () => {
    const thief = await run(open(), take("5000000000000000000"), { sandbox });
    const receipt = await thief.terminate({ graceMs: 0 });
    expect(receipt).toMatchObject({ gone: true });
  });
});

const unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork"] as const;
const cannot =
  isLinux && spawnSync(unshare[0], [...unshare.slice(1), "true"]).status === 0 ? "" : "unshare does not work here";

describe.skipIf(cannot !== "")(`/proc of another namespace${cannot && `: skipped, ${cannot}`}`, () => {
  it("is nothing to go by: its numbers are those of strangers", () => {
    const program = fileURLToPath(new URL("../programs/terminate-one.mjs", import.meta.url));
    const [file, ...args] = unshare;
    const { stdout } = spawnSync(file, [...args, process.execPath, program], { encoding: "utf8" });
    const { receipt, wait } = JSON.parse(stdout) as { receipt: object; wait: string };
    expect(receipt).toEqual({
      running: true,
      signals: ["SIGTERM"],
      gone: true,
      outcome: { kind: "signaled", signal: "SIGTERM", by: "terminate" },
    });
    expect(wait).toBe("unknown");
  });
});
