import { execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { untilGone } from "../process/support.js";
import { NO_BUBBLEWRAP } from "./support.js";

const HOST = fileURLToPath(new URL("../programs/sandbox-host.mjs", import.meta.url));
const TAMPER = fileURLToPath(new URL("../programs/tamper-init.py", import.meta.url));

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
    // Offline it has no way to; with a network it may trace its own processes, and the guard ends them by number.
    it.each([
      ["restricted", ""],
      ["enabled", "by_trace\n"],
    ])("ends with its host, network %s", async (network, ways) => {
      const host = fork(HOST, [TAMPER, network], { stdio: ["ignore", "pipe", "inherit", "ipc"] });
      const [line] = (await once(createInterface({ input: host.stdout! }), "line")) as [string];
      const { pid, text } = JSON.parse(line) as { pid: number; text: string };
      const [init] = children(pid) as [number];
      const [program] = children(init) as [number];
      host.kill("SIGKILL");
      await once(host, "exit");
      for (const one of [pid, init, program]) expect(await untilGone(one)).toBe(true);
      expect(text).not.toContain("by_memory\n");
      expect(text).toContain(`${ways}tampered\n`);
    });
  },
);
