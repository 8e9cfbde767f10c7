import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Native } from "@codex/native";
import { TRIAL_DEADLINE_MS } from "../limits.js";

/** Runs a short program with these bytes to read on descriptors 3, 4, …, and one further descriptor for its output. */
export async function spawnWith(
  native: Native,
  file: string,
  args: readonly string[],
  inputs: readonly Uint8Array[],
): Promise<{ code: number | null; stderr: string }> {
  const fds: number[] = [];
  try {
    for (const bytes of inputs) fds.push(native.createMemoryFile(bytes));
    fds.push(native.createMemoryFile(new Uint8Array()));
    const child = spawn(file, args, {
      cwd: "/",
      env: {},
      stdio: ["ignore", "ignore", "pipe", ...fds],
      timeout: TRIAL_DEADLINE_MS,
      killSignal: "SIGKILL",
    });
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", resolve);
    });
    let stderr = "";
    // Without free descriptors there is an error, and no streams.
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (stderr.length < MAX_TEXT) stderr += text;
    });
    return { code: await ended, stderr };
  } finally {
    for (const fd of fds) closeSync(fd);
  }
}

/** Characters of the error output that are kept. */
const MAX_TEXT = 4_096;
