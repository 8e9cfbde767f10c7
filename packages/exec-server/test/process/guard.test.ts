import { fork } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { isAlive, untilGone } from "./support.js";

const program = fileURLToPath(new URL("../programs/host.mjs", import.meta.url));

describe("a host that dies", () => {
  it.each(["SIGKILL", "SIGTERM", "SIGSEGV"] as const)("of %s leaves nothing behind", async (signal) => {
    const host = fork(program, [], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
    const [line] = (await once(createInterface({ input: host.stdout! }), "line")) as [string];
    const pids = JSON.parse(line) as number[];
    expect(pids.map(isAlive)).toEqual([true, true, true, true]);
    host.kill(signal);
    await once(host, "exit");
    for (const pid of pids) expect(await untilGone(pid, 1_000)).toBe(true);
  });
});
