// A server that gets SIGTERM while `codex run` follows a program on it.
import { once } from "node:events";
import { mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { codexWords, finish, useCommand } from "./support.js";

const { start } = useCommand();
let home = "";

beforeEach(() => {
  home = mkdtempSync(join(realpathSync(tmpdir()), "codex-end-"));
});
// A program that ends writes its compile cache last; `rmSync` does not try again on Node 22.
afterEach(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));

/** Options of a client that reach the server, and its process id once it serves one. */
interface Served {
  place: string[];
  getPid: () => number;
}
type Command = "executor" | "exec-server";

async function listen(command: Command, url: string): Promise<Served> {
  const child = start([command, "--listen", url]);
  const [at] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { place: ["--executor", at], getPid: () => child.pid! };
}

async function register(command: Command): Promise<Served> {
  const rendezvous = start(["rendezvous", "--listen", "http://127.0.0.1:0"], { CODEX_HOME: home });
  const [registry] = (await once(createInterface({ input: rendezvous.stdout }), "line")) as [string];
  const args = [command, "--remote", registry, "--environment-id", "env-1", "--log-level", "info"];
  const child = start(args, { CODEX_HOME: home, CODEX_API_KEY: "dummy" });
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes("connected to the rendezvous")) break;
  }
  return { place: ["--registry", registry, "--environment", "env-1"], getPid: () => child.pid! };
}

const KINDS: Record<string, (command: Command) => Promise<Served>> = {
  async stdio(command) {
    const file = join(home, "pid");
    const line = `echo $$ > '${file}'; exec ${codexWords} ${command} --listen stdio://`;
    return { place: ["--executor", line], getPid: () => Number(readFileSync(file, "utf8")) };
  },
  websocket: (command) => listen(command, "ws://127.0.0.1:0"),
  unix: (command) => listen(command, `unix://${join(home, "socket")}`),
  registered: register,
};

const LAST = Array.from({ length: 200 }, (_, number) => `last ${number}\n`).join("");
const trapping = (end: string) =>
  `trap 'i=0; while [ $i -lt 200 ]; do echo last $i; i=$((i+1)); done; ${end}' TERM; echo ready; while :; do sleep 0.02; done`;

/** Starts a program; resolves when it is ready. */
async function follow({ place }: Served, program: string) {
  const client = start(["run", ...place, "--no-tty", "--", "/bin/sh", "-c", program], { CODEX_HOME: home });
  client.stdin.end();
  const finished = finish(client);
  await once(client.stdout, "data");
  return { finished };
}

describe.each(["executor", "exec-server"] as const)("an %s that is asked to end", (command) => {
  it.each(Object.keys(KINDS))("delivers how programs ended and all of their last output (%s)", async (kind) => {
    const served = await KINDS[kind]!(command);
    const { finished } = await follow(served, trapping("trap - TERM; kill -TERM $$"));
    process.kill(served.getPid(), "SIGTERM");
    const { code, stdout, stderr } = await finished;
    expect([code, stdout.toString()]).toEqual([143, `ready\n${LAST}`]);
    expect(stderr).not.toContain("unknown");
  });

  it("kills a program that ignores SIGTERM, and says so", async () => {
    const served = await KINDS.websocket!(command);
    const { finished } = await follow(served, "trap 'echo no' TERM; echo ready; while :; do sleep 0.02; done");
    process.kill(served.getPid(), "SIGTERM");
    expect(await finished).toMatchObject({ code: 137, stdout: Buffer.from("ready\nno\n") });
  });

  it("ends before a client has said anything", async () => {
    const child = start([command, "--listen", "stdio", "--log-level", "debug"]);
    const ended = finish(child);
    // The handlers of signals are there once something was read.
    child.stdin.write("{}\n");
    await once(child.stdout, "data");
    child.kill("SIGTERM");
    expect(await ended).toMatchObject({ code: 0, signal: null });
  });

  it("ends immediately at a second signal", async () => {
    const served = await KINDS.websocket!(command);
    await follow(served, "trap 'echo no' TERM; echo ready; while :; do sleep 0.02; done");
    const began = performance.now();
    process.kill(served.getPid(), "SIGTERM");
    await expect.poll(() => tryKill(served.getPid(), "SIGTERM")).toBe(false);
    expect(performance.now() - began).toBeLessThan(1_500); // without it, 2 s pass until SIGKILL
  });
});

const tryKill = (pid: number, signal: NodeJS.Signals) => {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
};
