import { hasFunction } from "../libc/bind.js";
import type { Libc } from "../libc/libc.js";
import { isStopped, parseStatus } from "./exit-status.js";
import { isMainThread } from "./main-thread.js";
import { type ChildStart, createSpawn, SPAWN_FUNCTIONS } from "./spawn.js";

/**
 * Starts programs with `posix_spawn` and reaps them when they end. Linux. Node's own `spawn` forks and thus copies the page
 * tables of this process, which takes ten times as long, and grows with the heap.
 */
export interface Children {
  /** Returns the pid. @throws an error with a `code` such as `E2BIG` when nothing was started */
  spawn(start: ChildStart): number;
}

/** sys/wait.h of Linux. */
const WNOHANG = 1;

/** Milliseconds between two calls of waitpid for children whose SIGCHLD was missed; a worker gets no signal at all. */
const REAP_INTERVAL_MS = 1_000;
const WORKER_REAP_INTERVAL_MS = 5;

/** Undefined when the C library lacks a required function. */
export function createChildren(libc: Libc): Children | undefined {
  if (!SPAWN_FUNCTIONS.every((name) => hasFunction(libc, name))) return undefined;
  const spawn = createSpawn(libc);
  const inMainThread = isMainThread();
  const running = new Map<number, ChildStart["onExit"]>();
  /** Pids of children that do not keep this process alive. */
  const background = new Set<number>();
  const status = new Int32Array(1);
  let timer: NodeJS.Timeout | undefined;

  const reap = () => {
    for (const [pid, onExit] of running) {
      if (libc.waitpid(pid, status, WNOHANG) !== pid || isStopped(status[0]!)) continue;
      running.delete(pid);
      background.delete(pid);
      onExit(parseStatus(status[0]!));
    }
    scheduleReaping(running.size, running.size - background.size);
  };
  /** The timer also keeps this process alive for its children, which a signal handler does not. */
  const scheduleReaping = (children: number, waitedFor: number) => {
    if (inMainThread) children > 0 ? startReaping(reap) : stopReaping(reap);
    if (waitedFor > 0) timer ??= setInterval(reap, inMainThread ? REAP_INTERVAL_MS : WORKER_REAP_INTERVAL_MS);
    else {
      clearInterval(timer);
      timer = undefined;
    }
  };
  return {
    spawn(start) {
      const { keepsAlive = true, onExit } = start;
      // Before the child is started, so that its SIGCHLD is not missed.
      scheduleReaping(running.size + 1, running.size - background.size + Number(keepsAlive));
      try {
        const pid = spawn(start);
        running.set(pid, onExit);
        if (!keepsAlive) background.add(pid);
        return pid;
      } finally {
        scheduleReaping(running.size, running.size - background.size);
      }
    },
  };
}

/** Called when a child of this process has ended. One signal handler serves all backends of the process. */
const reapers = new Set<() => void>();

function startReaping(reap: () => void): void {
  if (reapers.size === 0) process.on("SIGCHLD", reapAll);
  reapers.add(reap);
}

function stopReaping(reap: () => void): void {
  reapers.delete(reap);
  if (reapers.size === 0) process.off("SIGCHLD", reapAll);
}

function reapAll(): void {
  for (const reap of [...reapers]) reap();
}
