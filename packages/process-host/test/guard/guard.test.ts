import { execFileSync, fork, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createNative } from "@codex/native";
import { findSmallDiskProblem, openSmallDisk } from "@codex/testkit";
import { describe, expect, it } from "vitest";
import { createGuard } from "../../src/guard/guard.js";
import { isAlive, untilGone } from "../support.js";

const noDisk = findSmallDiskProblem();
const forgetful = fileURLToPath(new URL("../programs/forgetful-host.mjs", import.meta.url));
const program = fileURLToPath(new URL("../programs/host.mjs", import.meta.url));

/** Programs that are started through the exec gate come from other threads. */
const GATED = process.platform === "linux" ? [[], ["gated"]] : [[]];

describe.each(GATED)("a host that dies %s", (...words) => {
  it.each(["SIGKILL", "SIGTERM", "SIGSEGV"] as const)("of %s leaves nothing behind", async (signal) => {
    const host = fork(program, words, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    const [line] = (await once(createInterface({ input: host.stdout! }), "line")) as [string];
    const pids = JSON.parse(line) as number[];
    expect(pids.map(isAlive)).toEqual([true, true, true, true]);
    host.kill(signal);
    await once(host, "exit");
    for (const pid of pids) expect(await untilGone(pid, 1_000)).toBe(true);
  });
});

describe.each(GATED)("a host that closes nothing %s", (...words) => {
  it("ends by itself, and with it what still runs in the background", async () => {
    const host = fork(forgetful, words, { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    const [line] = (await once(createInterface({ input: host.stdout! }), "line")) as [string];
    expect(await once(host, "exit")).toEqual([0, null]);
    expect(await untilGone(Number(line), 1_000)).toBe(true);
  });
});

const ways = [
  { way: "started by Node", open: createGuard },
  ...(process.platform === "linux"
    ? [{ way: "started without a copy", open: (options = {}) => createGuard({ native: createNative(), ...options }) }]
    : []),
];

describe.each(ways)("the guard, $way,", ({ open: openGuard }) => {
  const startGroup = async () => {
    const child = spawn("sleep", ["300"], { detached: true, stdio: "ignore" });
    await once(child, "spawn");
    return { pid: child.pid!, ended: once(child, "exit") as Promise<[number | null, string | null]> };
  };

  it("kills what it was told of and what was not crossed out again", async () => {
    const guard = openGuard();
    const groups = await Promise.all([1, 2, 3, 4].map(startGroup));
    for (const { pid } of groups) guard.add(pid);
    guard.remove(groups[1]!.pid);
    guard.remove(groups[2]!.pid);
    guard.add(groups[2]!.pid);
    guard.close();
    for (const index of [0, 2, 3]) expect((await groups[index]!.ended)[1]).toBe("SIGKILL");
    expect(isAlive(groups[1]!.pid)).toBe(true);
    process.kill(groups[1]!.pid, "SIGKILL");
  });

  it("kills single processes as well, and not their groups", async () => {
    const guard = openGuard();
    const [one, other] = await Promise.all([1, 2].map(startGroup));
    const member = spawn("sleep", ["300"], { stdio: "ignore" });
    await once(member, "spawn");
    const memberEnded = once(member, "exit") as Promise<[number | null, string | null]>;
    guard.addProcess(member.pid!);
    guard.addProcess(one!.pid);
    guard.addProcess(other!.pid);
    guard.removeProcess(other!.pid);
    guard.close();
    expect((await one!.ended)[1]).toBe("SIGKILL");
    expect((await memberEnded)[1]).toBe("SIGKILL");
    expect(isAlive(other!.pid)).toBe(true);
    process.kill(other!.pid, "SIGKILL");
  });

  it("is there again after somebody killed it", async () => {
    // Tells its shell from those of other guards, which may not have ended yet.
    const markPrefix = String(randomInt(1_000_000_000, 9_000_000_000));
    const guard = openGuard({ markPrefix });
    const group = await startGroup();
    guard.add(group.pid);
    const find = () =>
      execFileSync("pgrep", ["-P", String(process.pid), "-f", `sh ${markPrefix}$`], { encoding: "utf8" }).trim();
    const first = find();
    process.kill(Number(first), "SIGKILL");
    await expect.poll(find).not.toBe(first);
    guard.close();
    expect((await group.ended)[1]).toBe("SIGKILL");
  });

  it("takes another directory where the first takes no file", async () => {
    const guard = openGuard({ directories: [join(tmpdir(), "guard-missing"), tmpdir()] });
    const group = await startGroup();
    guard.add(group.pid);
    guard.close();
    expect((await group.ended)[1]).toBe("SIGKILL");
  });

  it("kills more groups than a piece of its file has room for", async () => {
    const guard = openGuard();
    const none = 2 ** 22;
    for (let index = 1; index <= 1_000; index += 1) guard.add(none + index);
    const group = await startGroup();
    guard.add(group.pid);
    for (let index = 1; index <= 1_000; index += 2) guard.remove(none + index);
    guard.close();
    expect((await group.ended)[1]).toBe("SIGKILL");
  });

  describe.skipIf(noDisk !== undefined)(
    `on a disk that becomes full${noDisk === undefined ? "" : ` (${noDisk})`}`,
    () => {
      it("takes as many as it has room for, refuses the next one, and guards all others", async () => {
        const disk = await openSmallDisk(64 * 1024);
        const guard = openGuard({ directories: [disk.path] });
        guard.open();
        disk.fill();
        const group = await startGroup();
        guard.add(group.pid);
        const none = 2 ** 22;
        for (let index = 1; index < 372; index += 1) guard.add(none + index);
        expect(() => guard.add(none + 372)).toThrow("ENOSPC");
        guard.remove(none + 372);
        guard.remove(none + 1);
        guard.add(none + 373);
        expect(() => openGuard({ directories: [disk.path] }).open()).toThrow(`${disk.path}: ENOSPC`);
        guard.close();
        expect((await group.ended)[1]).toBe("SIGKILL");
        await disk.close();
      });
    },
  );

  it("leaves no file behind, and says so when it cannot write one", () => {
    const directory = mkdtempSync(join(tmpdir(), "guard-"));
    const guard = openGuard({ directories: [directory] });
    guard.add(2 ** 22 + 1);
    expect(readdirSync(directory)).toEqual([]);
    guard.remove(2 ** 22 + 1);
    guard.close();
    const missing = join(directory, "missing");
    expect(() => openGuard({ directories: [missing] }).add(1)).toThrow(`${missing}: ENOENT`);
    rmSync(directory, { recursive: true });
  });
});

it.runIf(process.platform === "linux")(
  "the guard, started without a copy, leads a session at /, and has its own descriptors alone",
  async () => {
    const markPrefix = String(randomInt(1_000_000_000, 9_000_000_000));
    const other = openSync("/dev/null", "r");
    const guard = createGuard({ native: createNative(), markPrefix });
    guard.open();
    const [pid] = execFileSync("pgrep", ["-f", `sh ${markPrefix}$`], { encoding: "utf8" }).split("\n");
    const links = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    const nameless = expect.stringMatching(/\/#\d+ \(deleted\)$/);
    expect(links).toEqual([expect.stringMatching(/^pipe:/), "/dev/null", "/dev/null", nameless, nameless]);
    expect(readlinkSync(`/proc/${pid}/cwd`)).toBe("/");
    expect(execFileSync("ps", ["-o", "sid=", "-p", pid!], { encoding: "utf8" }).trim()).toBe(pid);
    guard.close();
    closeSync(other);
    expect(await untilGone(Number(pid), 1_000)).toBe(true);
  },
);
