import { spawn } from "node:child_process";
import { closeSync } from "node:fs";
import type { Children, Native } from "@codex/native";
import { isMainThread } from "@codex/native";
import { REMOVE_PLACEHOLDERS } from "./placeholder-list.js";

/** The shell of a guard. Neither it nor its pipe keeps this process alive. */
export interface GuardShell {
  /** Ends its pipe: the shell kills the processes that its file lists, and exits. Idempotent. */
  end(): void;
}

export type ShellHost = Pick<Native, "children" | "openPipe">;

export interface GuardShellStart {
  /** Descriptors of the files that it reads. The caller closes them. */
  places: number;
  names: number | undefined;
  markPrefix: string;
  native: ShellHost | undefined;
  /** Called once, in a later turn; `ran` is false when it could not be started. */
  onGone(ran: boolean): void;
}

/** Searches for marks only where /proc shows the pid namespace of the shell, so that its pids can be signalled. */
const SCRIPT = `trap '' INT HUP TERM QUIT
inits=
read -r nothing
while read -r place; do
  case $place in '') ;; p*) kill -9 "\${place#p}"; inits="$inits \${place#p}" ;; *) kill -9 "-$place" ;; esac
done <&3 2>/dev/null
read -r self rest </proc/self/stat
quiet=0
rounds=0
[ -n "$1" ] && [ "$self" = "$$" ] || quiet=3
while [ $quiet -lt 3 ] && [ $rounds -lt 1000 ]; do
  marked=$(grep -ls "^Max file locks  *$1" /proc/[0-9]*/limits)
  case $marked in ''|"$killed") quiet=$((quiet + 1)) ;; *) quiet=0 ;; esac
  rounds=$((rounds + 1))
  for file in $marked; do
    pid=\${file#/proc/}
    kill -9 "\${pid%/limits}"
  done 2>/dev/null
  killed=$marked
done
${REMOVE_PLACEHOLDERS}`;

const PROGRAM = "/bin/sh";

/** @throws a system error when it cannot be started; some failures are reported by `onGone` instead */
export const startGuardShell = ({ native, ...start }: GuardShellStart): GuardShell =>
  // When a worker thread ends, only descriptors that Node opened are closed: there the pipe has to be Node's.
  native?.children !== undefined && isMainThread() ? spawnShell(start, native, native.children) : forkShell(start);

type Start = Omit<GuardShellStart, "native">;

function spawnShell({ places, names, markPrefix, onGone }: Start, host: ShellHost, children: Children): GuardShell {
  const pipe = host.openPipe();
  let open = true;
  const end = () => {
    if (open) closeSync(pipe.write);
    open = false;
  };
  try {
    children.spawn({
      file: PROGRAM,
      argv: ["sh", "-c", SCRIPT, "sh", markPrefix],
      env: {},
      cwd: "/",
      stdio: { stdin: pipe.read, stdout: null, stderr: null },
      descriptors: names === undefined ? [places] : [places, names],
      keepsAlive: false,
      onExit() {
        end();
        onGone(true);
      },
    });
  } catch (error) {
    end();
    throw error;
  } finally {
    closeSync(pipe.read);
  }
  return { end };
}

function forkShell({ places, names, markPrefix, onGone }: Start): GuardShell {
  const shell = spawn(PROGRAM, ["-c", SCRIPT, "sh", markPrefix], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore", places, names ?? "ignore"],
    env: {},
    cwd: "/",
  });
  shell.on("error", () => onGone(false)); // it could not be started: the next group tries again
  shell.once("exit", () => onGone(true));
  shell.unref();
  // Without free descriptors there is an error, and no streams.
  const stdin = shell.stdin ?? undefined;
  stdin?.on("error", () => {});
  if (stdin !== undefined && "unref" in stdin && typeof stdin.unref === "function") stdin.unref();
  return { end: () => stdin?.end() };
}
