import { spawn } from "node:child_process";
import { decodeText, messageOf } from "@codex/values";
import type { Hook } from "../hook.js";
import { AFTER_EXIT_MS, MAX_OUTPUT_BYTES } from "./limits.js";

/** How a hook ended. */
export type HookRun =
  | { readonly kind: "exited"; readonly code: number; readonly stdout: string; readonly stderr: string }
  | { readonly kind: "failed"; readonly reason: string };

/** Where hooks run. */
export interface HookHost {
  readonly shell: string;
  readonly directory: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Runs a hook with this text on its stdin, in a process group of its own, which is killed if it takes too long. Never rejects. */
export function runCommand(
  { command, timeoutMs, env }: Hook,
  input: string,
  host: HookHost,
  signal: AbortSignal | undefined,
): Promise<HookRun> {
  if (signal?.aborted) return Promise.resolve({ kind: "failed", reason: "it was interrupted" });
  return new Promise((resolve) => {
    const child = spawn(host.shell, ["-c", command], {
      cwd: host.directory,
      env: { ...host.env, ...outermost(host.env), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    const chunks = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
    let ended = false;
    let afterExit: NodeJS.Timeout | undefined;
    const end = (run: HookRun) => {
      if (ended) return;
      ended = true;
      clearTimeout(timer);
      clearTimeout(afterExit);
      signal?.removeEventListener("abort", onAbort);
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      resolve(run);
    };
    const stop = (reason: string) => {
      if (child.pid !== undefined) killGroup(child.pid);
      end({ kind: "failed", reason });
    };
    const onAbort = () => stop("it was interrupted");
    const timer = setTimeout(() => stop(`it took longer than ${timeoutMs / 1000} s`), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    child.once("error", (error) => end({ kind: "failed", reason: `it cannot be started: ${messageOf(error)}` }));
    // Without free descriptors there is an error, and no streams. A hook need not read its stdin.
    child.stdin?.on("error", () => {}).end(input);
    for (const name of ["stdout", "stderr"] as const) {
      let bytes = 0;
      child[name]?.on("data", (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > MAX_OUTPUT_BYTES) stop(`it wrote more than ${MAX_OUTPUT_BYTES} bytes to ${name}`);
        else chunks[name].push(chunk);
      });
    }
    /** Calls back once what it has written is read: when this process was busy, a timer comes before the output that was there earlier. */
    const whenRead = (then: () => void) => {
      const count = chunks.stdout.length + chunks.stderr.length;
      // Input is read before the first of them, and again before the second.
      setImmediate(() =>
        setImmediate(() => (chunks.stdout.length + chunks.stderr.length === count ? then() : whenRead(then))),
      );
    };
    const finish = (code: number | null, killed: NodeJS.Signals | null) => {
      if (code === null) return end({ kind: "failed", reason: `it was killed by ${killed}` });
      try {
        const [stdout, stderr] = [chunks.stdout, chunks.stderr].map((each) =>
          decodeText(Buffer.concat(each), { fatal: true }),
        );
        end({ kind: "exited", code, stdout: stdout ?? "", stderr: stderr ?? "" });
      } catch {
        end({ kind: "failed", reason: "its output is not UTF-8" });
      }
    };
    child.once("exit", (code, killed) => {
      afterExit = setTimeout(() => {
        // What still holds its output.
        if (child.pid !== undefined) killGroup(child.pid);
        whenRead(() => finish(code, killed));
      }, AFTER_EXIT_MS);
    });
    child.once("close", finish);
  });
}

/**
 * Bash reads `~/.bashrc` where its stdin is a socket, as the pipes of Node are, and no other shell is around it: it takes that for a remote shell.
 */
const outermost = ({ SHLVL }: HookHost["env"]) => (Number(SHLVL) >= 1 ? {} : { SHLVL: "1" });

function killGroup(leader: number): void {
  try {
    process.kill(-leader, "SIGKILL");
  } catch {
    // It has ended.
  }
}
