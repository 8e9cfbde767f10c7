import { spawn } from "node:child_process";
import type { Writable } from "node:stream";
import { END_GRACE_MS, KILL_GRACE_MS } from "../limits.js";

/** Waits until its stdin is closed, which happens whenever this process ends. */
const SCRIPT = 'read -r _; sleep "$2"; kill -TERM "-$1"; sleep "$3"; kill -KILL "-$1"';

/**
 * Ends a process group if this process dies without having ended it. Returns a function that stops the guard. A host without `sh`,
 * or without free descriptors, has no guard: its programs only see their stdin closed.
 */
export function guardGroup(pid: number, env: Readonly<Record<string, string | undefined>>): () => void {
  const seconds = [END_GRACE_MS, KILL_GRACE_MS].map((ms) => String(Math.ceil(ms / 1000)));
  const guard = spawn("/bin/sh", ["-c", SCRIPT, "sh", String(pid), ...seconds], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
    cwd: "/",
    env: { PATH: env.PATH ?? "/usr/bin:/bin" },
  });
  guard.on("error", () => {}).unref();
  // Without free descriptors there is an error, and no streams.
  const stdin: Writable | undefined = guard.stdin;
  stdin?.on("error", () => {});
  // The guard must not keep this process alive.
  if (stdin !== undefined && "unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  return () => {
    // Node signals any process, or all of this group, for a program that was not started.
    if (guard.pid !== undefined) guard.kill("SIGKILL");
  };
}
