import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, unlinkSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Ends process groups, and on Linux everything that left them, when this process dies of any cause, SIGKILL included.
 *
 * The numbers of the living groups stand in a file without a name. A small shell of its own session holds the file, and a
 * pipe from us that carries nothing: when the pipe ends, because this process closed it or is gone, the shell
 * kills what stands in the file, and then whatever has a mark of this owner. Costs one sleeping process, started with the first group, and one small write to the
 * page cache for each start and end.
 */
export interface Guard {
  /** Starts the shell, if it does not run yet. @throws a system error when it cannot be made */
  open(): void;
  /** @throws a system error when the group cannot be written down */
  add(pgid: number): void;
  remove(pgid: number): void;
  /** Kills every group that was not removed. Idempotent. */
  close(): void;
}

const SCRIPT = `trap '' INT HUP TERM QUIT
read -r nothing
while read -r pgid; do
  case $pgid in '') ;; *) kill -9 "-$pgid" ;; esac
done <&3 2>/dev/null
[ -n "$1" ] && [ -d /proc/self ] || exit
quiet=0
rounds=0
while [ $quiet -lt 3 ] && [ $rounds -lt 1000 ]; do
  marked=$(grep -ls "^Max file locks  *$1" /proc/[0-9]*/limits)
  case $marked in ''|"$killed") quiet=$((quiet + 1)) ;; *) quiet=0 ;; esac
  rounds=$((rounds + 1))
  for file in $marked; do
    pid=\${file#/proc/}
    kill -9 "\${pid%/limits}"
  done 2>/dev/null
  killed=$marked
done`;

/** One number and a line feed; numbers of processes have at most 7 digits on Linux and fewer on macOS. */
const SLOT_BYTES = 11;

export interface GuardOptions {
  /** Where the file is for the moment in which it has a name. */
  directory?: string;
  /** What the digits of the marks of this owner begin with; see `Marks`. */
  markPrefix?: string;
}

export function createGuard({ directory = tmpdir(), markPrefix = "" }: GuardOptions = {}): Guard {
  /** Groups and the places where they stand. */
  const slots = new Map<number, number>();
  const free: number[] = [];
  let used = 0;
  let file: number | undefined;
  let shell: ChildProcess | undefined;
  let closed = false;

  const write = (slot: number, text: string) => {
    if (file !== undefined) writeSync(file, `${text.padStart(SLOT_BYTES - 1)}\n`, slot * SLOT_BYTES);
  };
  const start = () => {
    const path = join(directory, `codex-guard-${randomBytes(9).toString("hex")}`);
    const { O_RDWR, O_RDONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants;
    file = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
    const reader = openSync(path, O_RDONLY | O_NOFOLLOW);
    unlinkSync(path);
    for (const [pgid, slot] of slots) write(slot, String(pgid));
    shell = spawnShell(reader, markPrefix, () => {
      shell = undefined;
      if (file !== undefined) closeSync(file);
      file = undefined;
      if (!closed) start();
    });
    closeSync(reader);
  };
  const open = () => {
    if (!closed && shell === undefined) start();
  };
  return {
    open,
    add(pgid) {
      if (closed || slots.has(pgid)) return;
      open();
      const slot = free.pop() ?? used++;
      slots.set(pgid, slot);
      write(slot, String(pgid));
    },
    remove(pgid) {
      const slot = slots.get(pgid);
      if (slot === undefined) return;
      slots.delete(pgid);
      free.push(slot);
      write(slot, "");
    },
    close() {
      closed = true;
      shell?.stdin?.end();
    },
  };
}

/** Neither the shell nor the pipe to it keeps this process alive. */
function spawnShell(reader: number, markPrefix: string, onExit: () => void): ChildProcess {
  const shell = spawn("/bin/sh", ["-c", SCRIPT, "sh", markPrefix], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore", reader],
    env: {},
    cwd: "/",
  });
  shell.on("error", () => {}); // without a shell there is no exit either: the next group tries again
  shell.once("exit", onExit);
  shell.unref();
  const { stdin } = shell;
  stdin?.on("error", () => {});
  if (stdin !== null && "unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  return shell;
}
