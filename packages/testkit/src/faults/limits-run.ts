import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { createRandom } from "../random.js";
import { History, LONGEST_MS } from "./history.js";
import type { RunResult } from "./run-result.js";

/** Limits of the operating system for the process that runs programs. */
const LIMITS = [
  { name: "file size", command: "ulimit -f 200" },
  { name: "open files", command: "ulimit -n 256" },
] as const;

/** Runs programs in a process with low limits of the operating system. Never rejects. */
export async function runUnderLimits(seed: number): Promise<RunResult> {
  const history = new History();
  const limit = createRandom(seed, "limits").pick(LIMITS);
  const child = fileURLToPath(new URL("./limits-child.js", import.meta.url));
  const script = `${limit.command}; exec "${process.execPath}" "${child}" ${seed} "${limit.name}"`;
  const processes = await new Promise<number>((resolve) => {
    execFile("/bin/sh", ["-c", script], { timeout: LONGEST_MS }, (error, stdout, stderr) => {
      if (error !== null) history.fail(`the process failed: ${error.message} ${stderr}`);
      for (const line of stdout.split("\n")) {
        if (line.startsWith("PROBLEM ")) history.fail(line.slice(8));
        else if (line !== "") history.note(line);
      }
      resolve(Number(/(\d+) programs/.exec(stdout)?.[1] ?? 0));
    });
  });
  return { seed, kind: "limits", plan: [limit.command], processes, events: history.events, problems: history.problems };
}
