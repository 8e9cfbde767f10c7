import { type ChildProcess, spawn } from "node:child_process";

/**
 * Ends process groups when this process dies of any cause, SIGKILL included.
 *
 * A small shell of its own session reads which groups are alive from a pipe. When the pipe ends, because this process
 * closed it or is gone, it kills what is left. It costs one process, started with the first group.
 */
export interface Guard {
  add(pgid: number): void;
  remove(pgid: number): void;
  /** Kills every group that was not removed. Idempotent. */
  close(): void;
}

const SCRIPT = `trap '' INT HUP TERM QUIT
live=' '
while read -r op pgid; do
  case $op in
    +) live="$live$pgid " ;;
    -) live="\${live%% $pgid *} \${live#* $pgid }" ;;
  esac
done
for pgid in $live; do kill -9 "-$pgid"; done 2>/dev/null`;

/** Milliseconds after which a group that is gone is crossed out: on the way of an answer the write would be felt. */
const CROSS_OUT_MS = 50;

export function createGuard(): Guard {
  const groups = new Set<number>();
  let crossedOut = "";
  let timer: NodeJS.Timeout | undefined;
  let shell: ChildProcess | undefined;
  let closed = false;
  const send = (line: string) => shell?.stdin?.write(line);
  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    if (crossedOut !== "") send(crossedOut);
    crossedOut = "";
  };
  const start = () => {
    const started = spawn("/bin/sh", ["-c", SCRIPT], {
      detached: true,
      stdio: ["pipe", "ignore", "ignore"],
      env: {},
      cwd: "/",
    });
    shell = started;
    started.on("error", () => {});
    started.stdin.on("error", () => {}); // its end is seen below
    started.unref();
    // A pipe is a socket here; it must not keep this process alive.
    (started.stdin as unknown as { unref(): void }).unref();
    started.once("exit", () => {
      if (closed || shell !== started) return;
      shell = undefined;
      if (groups.size > 0) start();
    });
    crossedOut = "";
    for (const pgid of groups) send(`+ ${pgid}\n`);
  };
  return {
    add(pgid) {
      if (closed) return;
      groups.add(pgid);
      if (shell === undefined) return start();
      // In one write with what is to be crossed out, which may be the same number used again.
      send(`${crossedOut}+ ${pgid}\n`);
      crossedOut = "";
    },
    remove(pgid) {
      if (!groups.delete(pgid)) return;
      crossedOut += `- ${pgid}\n`;
      timer ??= setTimeout(flush, CROSS_OUT_MS).unref();
    },
    close() {
      closed = true;
      flush();
      shell?.stdin?.end();
    },
  };
}
