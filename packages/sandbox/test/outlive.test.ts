import { execFileSync, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGuard } from "../../process-host/src/guard/guard.js";
import { untilGone } from "../../process-host/test/support.js";
import { MARK_S } from "../src/profile/placeholder-mark.js";
import { NO_BUBBLEWRAP } from "./support.js";

const HOST = fileURLToPath(new URL("./programs/sandbox-host.mjs", import.meta.url));
const TAMPER = fileURLToPath(new URL("./programs/tamper-init.py", import.meta.url));

const problem = NO_BUBBLEWRAP ?? findProblem();

function findProblem(): string | undefined {
  if (process.arch !== "x64") return `the program that tampers is for x64, not ${process.arch}`;
  try {
    execFileSync("python3", ["-c", ""]);
    return undefined;
  } catch {
    return "python3 is missing";
  }
}

const children = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);

describe.skipIf(problem !== undefined)(
  `a command that takes over its sandbox's first process (${problem ?? "x64"})`,
  () => {
    it.each(["restricted", "enabled"])("ends with its host, network %s", async (network) => {
      const host = fork(HOST, [TAMPER, network], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
      const [line] = (await once(createInterface({ input: host.stdout! }), "line")) as [string];
      const { pid, text } = JSON.parse(line) as { pid: number; text: string };
      const [init] = children(pid) as [number];
      const [program] = children(init) as [number];
      host.kill("SIGKILL");
      await once(host, "exit");
      for (const one of [pid, init, program]) expect(await untilGone(one)).toBe(true);
      expect(text).not.toMatch(/by_(memory|trace)\n/);
      expect(text).toContain("tampered\n");
    });
  },
);

const noFlock = process.platform === "linux" ? findFlockProblem() : "names are kept free by directories on Linux alone";

function findFlockProblem(): string | undefined {
  try {
    execFileSync("flock", ["--version"]);
    return undefined;
  } catch {
    return "the program flock is missing";
  }
}

describe.skipIf(noFlock !== undefined)(`names that a sandbox keeps free (${noFlock ?? "flock"})`, () => {
  let base: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "codex-names-")));
  });
  afterEach(() => rmSync(base, { recursive: true, force: true }));

  it.skipIf(problem !== undefined)("are free again when the host is killed", async () => {
    const program = join(base, "program.py");
    writeFileSync(program, "import time\nprint('tampered', flush=True)\ntime.sleep(300)\n");
    mkdirSync(join(base, "work"));
    const host = fork(HOST, [program, "restricted", join(base, "work")], {
      stdio: ["ignore", "pipe", "inherit", "ipc"],
    });
    await once(createInterface({ input: host.stdout! }), "line");
    expect(readdirSync(join(base, "work")).sort()).toEqual([".agents", ".aws", ".codex", ".git"]);
    host.kill("SIGKILL");
    await expect.poll(() => readdirSync(join(base, "work"))).toEqual([]);
  });

  it("are left where somebody uses them, put something there or made them, and where they were given back", async () => {
    const make = (name: string, marked = true) => {
      mkdirSync(join(base, name));
      if (marked) utimesSync(join(base, name), MARK_S, MARK_S);
      return join(base, name);
    };
    const names = [" two  words ", "used", "own", "full", "back"].map((name) => make(name, name !== "own"));
    writeFileSync(join(base, "full/x"), "");
    utimesSync(join(base, "full"), MARK_S, MARK_S);
    const guard = createGuard();
    guard.open();
    for (const path of names) guard.addPlaceholder(path);
    guard.addPlaceholder(names[0]!);
    guard.removePlaceholder(names[0]!);
    guard.removePlaceholder(names[4]!);
    const user = fork("-e", ["process.stdin.resume()"], {
      execPath: "flock",
      execArgv: ["-s", names[1]!, process.execPath],
      stdio: ["pipe", "inherit", "inherit", "ipc"],
    });
    await once(user, "spawn");
    await expect.poll(() => spawnSync("flock", ["-nx", names[1]!, "true"]).status).toBe(1);
    guard.addPlaceholder(make("last"));
    guard.close();
    await expect.poll(() => readdirSync(base).sort()).toEqual(["back", "full", "own", "used"]);
    user.stdin!.end();
    await once(user, "exit");
  });
});
