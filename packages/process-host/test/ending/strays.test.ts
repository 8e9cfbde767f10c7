import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { createLocalBackend } from "../../src/local-backend.js";
import { ENV, isAlive, untilGone, untilOutput, useBackend } from "../support.js";

const program = (name: string) => fileURLToPath(new URL(`../programs/${name}`, import.meta.url));

function hasProgram(name: string): boolean {
  try {
    execFileSync(name, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

const readStat = (pid: number) =>
  readFileSync(`/proc/${pid}/stat`, "latin1")
    .replace(/^.*\) /, "")
    .split(" ");
const getState = (pid: number) => readStat(pid)[0];
const getGroup = (pid: number) => Number(readStat(pid)[2]);

const isLinux = process.platform === "linux";
const missing = ["setsid", "bash", "python3"].filter((name) => !hasProgram(name));
const why = isLinux ? missing.map((name) => `${name} is missing`).join(", ") : "marks are for Linux";

/** Scripts that print the pid of a process that is no member of their group, and go on. */
const ESCAPES: readonly (readonly [string, string])[] = [
  ["a session of its own", "setsid sleep 300 & echo $!"],
  ["a group of its own", "set -m; nohup sleep 300 >/dev/null 2>&1 & echo $!"],
  ["a grandchild whose parent has ended", "setsid sh -c 'sleep 300 & echo $!'"],
  ["a daemon", `python3 '${program("daemonize.py")}'`],
  ["another environment and name", "env -i bash -c 'exec -a innocent setsid sleep 300' & echo $!"],
  ["a stopped process", "setsid sh -c 'echo $$; kill -STOP $$; sleep 300' &"],
  ["one that does not listen", `setsid bash -c 'trap "" TERM HUP INT; echo $$; sleep 300; sleep 300' &`],
];

describe.skipIf(why !== "")(`what left its group${why === "" ? "" : `: skipped, ${why}`}`, () => {
  const host = useBackend();
  /** A process with a stray: what it started stays when `script` has ended. */
  const start = async (script: string, then: string) => {
    const started = await host.run(["bash", "-c", `${script}\necho done; ${then}`]);
    await untilOutput(started, "done");
    const find = async () => /^\d+$/m.exec(await untilOutput(started, "\n"))?.[0];
    await expect.poll(find).toBeDefined();
    const pid = Number(await find());
    await expect.poll(() => getState(pid)).toBe(script.includes("STOP") ? "T" : "S");
    await expect.poll(() => getGroup(pid)).not.toBe(started.pid);
    return { process: started, pid };
  };

  it.each(ESCAPES)("%s ends with its process, and the receipt names it", async (_name, script) => {
    const { process, pid } = await start(script, "sleep 300");
    const receipt = await process.terminate({ graceMs: 100 });
    expect(receipt).toMatchObject({ running: true, gone: true });
    expect(receipt.strays?.map((stray) => stray.pid)).toContain(pid);
    expect(receipt.members?.map((member) => member.pid)).toContain(process.pid);
    expect(isAlive(pid)).toBe(false);
  });

  it.each(ESCAPES)("%s can be ended when its process has ended before", async (_name, script) => {
    const { process, pid } = await start(script, "exit 3");
    await process.exited;
    const receipt = await process.terminate({ graceMs: 100 });
    expect(receipt).toMatchObject({ running: false, gone: true, outcome: { kind: "exited", code: 3 } });
    expect(isAlive(pid)).toBe(false);
  });

  it.each(ESCAPES)("%s ends with the backend", async (_name, script) => {
    const { process, pid } = await start(script, "exit");
    await process.exited;
    await host.backend.close();
    expect(isAlive(pid)).toBe(false);
  });

  it("is not what another process of the backend started", async () => {
    const one = await start("setsid sleep 300 & echo $!", "exit");
    const other = await start("setsid sleep 300 & echo $!", "exit");
    const receipt = await one.process.terminate({ graceMs: 0 });
    expect(receipt.strays?.map(({ pid }) => pid)).toEqual([one.pid]);
    expect(isAlive(other.pid)).toBe(true);
  });

  it("is found by its parent where it took the mark off", async () => {
    const { process, pid } = await start("setsid bash -c 'ulimit -x unlimited; echo $$; exec sleep 300' &", "wait");
    expect((await process.terminate()).strays).toContainEqual({ pid, name: "sleep" });
  });

  it("is found below an executor that runs inside", async () => {
    const inner = await host.run(["node", program("strays-host.mjs")], { env: { ...ENV } });
    const pids = JSON.parse(await untilOutput(inner, "]")) as number[];
    const receipt = await inner.terminate({ graceMs: 0 });
    expect(receipt.gone).toBe(true);
    for (const pid of pids) expect(isAlive(pid)).toBe(false);
  });

  it("is stopped however fast it starts others", async () => {
    const storm = await host.run(["python3", program("storm.py")]);
    await untilOutput(storm, "ready");
    const receipt = await storm.terminate({ graceMs: 0 });
    expect(receipt.gone).toBe(true);
    // Sockets apart, nothing else of this machine has such a mark: a second look finds nothing.
    expect(await storm.terminate({ graceMs: 0 })).toMatchObject({ members: [], strays: [] });
  });

  it.each([0, 50])("is stopped when it hops from session to session, and is asked for %d ms", async (graceMs) => {
    const ended = join(dirname(host.file("made", "")), "ended");
    const hoppers = await host.run(["python3", program("hoppers.py"), ended]);
    await untilOutput(hoppers, "ready");
    await hoppers.exited;
    expect(await hoppers.terminate({ graceMs })).toMatchObject({ gone: true });
    expect(await hoppers.terminate({ graceMs: 0 })).toMatchObject({ members: [], strays: [], gone: true });
    expect(existsSync(ended)).toBe(false); // not by themselves
  });

  it("is a process, and none of its threads", async () => {
    const script =
      "import threading, time; threading.Thread(target=time.sleep, args=[300]).start(); print('up', flush=True)";
    const threads = await host.run(["setsid", "--fork", "python3", "-c", script]);
    await untilOutput(threads, "up");
    const receipt = await threads.terminate({ graceMs: 0 });
    expect(receipt.strays).toEqual([{ pid: expect.any(Number), name: "python3" }]);
  });

  it("hears that it may go on, so that it can clean up", async () => {
    const { process } = await start(
      "setsid bash -c 'trap \"exit 0\" TERM; echo $$; kill -STOP $$; sleep 9' &",
      "sleep 300",
    );
    const receipt = await process.terminate({ graceMs: 5_000 });
    expect(receipt.signals).toEqual(["SIGTERM", "SIGCONT"]);
  });

  it.each(["SIGKILL", "SIGTERM"] as const)("ends when its host dies of %s", async (signal) => {
    const dying = fork(program("strays-host.mjs"), [], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    const [line] = (await once(createInterface({ input: dying.stdout! }), "line")) as [string];
    const pids = JSON.parse(line) as number[];
    expect(pids.map(isAlive)).toEqual(pids.map(() => true));
    dying.kill(signal);
    await once(dying, "exit");
    for (const pid of pids) expect(await untilGone(pid, 1_000)).toBe(true);
  });

  it("costs this process nothing: its own limits are as before", async () => {
    const limit = () => /^Max file locks.*$/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[0];
    const before = limit();
    await (await host.run(["true"])).exited;
    expect(limit()).toBe(before);
    await expect(
      createLocalBackend().start({ argv: ["/"], cwd: "/", env: {}, stdio: { kind: "pty" } }),
    ).rejects.toThrow();
    expect(limit()).toBe(before);
  });

  it("leaves the guard out", async () => {
    await (await host.run(["true"])).exited;
    const hasGuard = () => spawnSync("pgrep", ["-P", String(process.pid), "-f", "read -r nothing"]).status === 0;
    expect(hasGuard()).toBe(true);
    await host.backend.close();
    await expect.poll(hasGuard).toBe(false);
  });
});
