import { spawn } from "node:child_process";
import { MAX_OUTPUT_BYTES, OUTPUT_MS, PROGRAM_MS } from "./limits.js";

export interface Finished {
  /** Undefined when a signal ended it. */
  code: number | undefined;
  signal: NodeJS.Signals | undefined;
  /** It was killed at its deadline. */
  timedOut: boolean;
  stdout: string;
  stderr: string;
  /** Milliseconds from the start to the exit. */
  ms: number;
}

export interface RunOptions {
  input?: string;
  env?: Readonly<Record<string, string | undefined>>;
  timeoutMs?: number;
}

/** Runs a program as the leader of its own process group, and kills the group at the deadline. @throws Error when it cannot be started */
export function runProgram(file: string, args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const { input = "", env = process.env, timeoutMs = PROGRAM_MS } = options;
  const startedAt = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    // Without free descriptors there is an error, and no streams.
    if (child.pid === undefined) return void child.once("error", reject);
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      endGroup(child.pid);
    }, timeoutMs);
    child.on("error", () => {}); // such as a signal that could not be sent; the exit is what counts
    child.once("exit", (code, signal) => {
      clearTimeout(timer);
      const ms = performance.now() - startedAt;
      const finish = () => {
        clearTimeout(late);
        endGroup(child.pid);
        child.stdout.destroy();
        child.stderr.destroy();
        const outcome = { code: code ?? undefined, signal: signal ?? undefined, timedOut, ms };
        resolve({ ...outcome, stdout: stdout(), stderr: stderr() });
      };
      // Its background children may keep its output open.
      const late = setTimeout(finish, OUTPUT_MS);
      child.once("close", finish);
    });
    child.stdin.on("error", () => {}); // a program need not read its input
    child.stdin.end(input);
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const chunks: Buffer[] = [];
  let size = 0;
  stream.on("data", (bytes: Buffer) => {
    if (size < MAX_OUTPUT_BYTES) chunks.push(bytes.subarray(0, MAX_OUTPUT_BYTES - size));
    size += bytes.length;
  });
  return () => Buffer.concat(chunks).toString();
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has already ended.
  }
}
