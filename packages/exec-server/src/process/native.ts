import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import type { TerminalSize } from "@codex/executor-protocol";

/**
 * The few system calls that Node does not offer, loaded at the first terminal or pipe so that start-up does not pay.
 * Terminals come from node-pty's binding, called directly: its public `open` starts to read both ends by itself.
 * Everything else is one libc function each, called through koffi.
 */
export interface Native {
  /** A new terminal; the master is non-blocking and is not inherited by children. */
  openTerminal(size: TerminalSize): { master: number; slave: number };
  resizeTerminal(master: number, size: TerminalSize): void;
  /** Starts a program on a new terminal with node-pty's own fork: where `openTerminal` cannot make it a session. */
  forkTerminal(start: ForkTerminal): { master: number; pid: number };
  /** A pipe whose ends are not inherited by children; undefined where Node's own are as good. */
  openPipe(): { read: number; write: number } | undefined;
}

export interface ForkTerminal {
  file: string;
  args: readonly string[];
  env: readonly string[];
  cwd: string;
  size: TerminalSize;
  onExit(code: number, signal: number): void;
}

/** node-pty 1.2.0-beta.15, `lib/utils.js` and the functions its binding exports. */
interface PtyBinding {
  open(cols: number, rows: number): { master: number; slave: number; pty: string };
  resize(fd: number, cols: number, rows: number, xPixel: number, yPixel: number): void;
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helperPath: string,
    onExit: (code: number, signal: number) => void,
  ): { fd: number; pid: number; pty: string };
}
interface PtyLoader {
  loadNativeModule(name: string): { dir: string; module: PtyBinding };
}
interface Koffi {
  load(path: null): { func(prototype: string): (...args: unknown[]) => number };
}

interface Libc {
  /** Variadic: each further argument is preceded by its C type. */
  fcntl(fd: number, command: number, type: "int", value: number): number;
  pipe2?(fds: number[], flags: number): number;
}

const F_SETFD = 2;
const FD_CLOEXEC = 1;
const O_CLOEXEC_LINUX = 0o2000000;

export function createNative(): Native {
  const require = createRequire(import.meta.url);
  let binding: { dir: string; module: PtyBinding } | undefined;
  const pty = () => {
    binding ??= (require("node-pty/lib/utils.js") as PtyLoader).loadNativeModule("pty");
    return binding;
  };
  let libc: Libc | undefined;
  const getLibc = () => {
    if (libc !== undefined) return libc;
    const library = (require("koffi") as Koffi).load(null);
    libc = { fcntl: library.func("int fcntl(int fd, int command, ...)") };
    keepDescriptors(libc);
    if (process.platform === "linux") libc.pipe2 = library.func("int pipe2(_Out_ int *fds, int flags)");
    return libc;
  };
  return {
    openTerminal({ rows, cols }) {
      const { fcntl } = getLibc();
      const { master, slave } = pty().module.open(cols, rows);
      // openpty leaves both ends inheritable: every later child would hold this terminal open and could type into it.
      fcntl(master, F_SETFD, "int", FD_CLOEXEC);
      fcntl(slave, F_SETFD, "int", FD_CLOEXEC);
      return { master, slave };
    },
    resizeTerminal(master, { rows, cols }) {
      pty().module.resize(master, cols, rows, 0, 0);
    },
    forkTerminal({ file, args, env, cwd, size, onExit }) {
      const { dir, module } = pty();
      const helper = require.resolve(`node-pty/lib/${dir}/spawn-helper`);
      const forked = module.fork(file, args, env, cwd, size.cols, size.rows, -1, -1, true, helper, onExit);
      getLibc().fcntl(forked.fd, F_SETFD, "int", FD_CLOEXEC);
      return { master: forked.fd, pid: forked.pid };
    },
    openPipe() {
      const { pipe2 } = getLibc();
      if (pipe2 === undefined) return undefined;
      const fds = [0, 0];
      if (pipe2(fds, O_CLOEXEC_LINUX) !== 0) throw new Error("no pipe: too many open files");
      return { read: fds[0]!, write: fds[1]! };
    },
  };
}

/** Descriptors that this process inherited are its own business: no child gets more than its stdin, stdout and stderr. */
function keepDescriptors(libc: Libc): void {
  if (process.platform !== "linux") return; // macOS starts children with all others closed
  for (const name of readdirSync("/proc/self/fd")) {
    const fd = Number(name);
    if (fd > 2) libc.fcntl(fd, F_SETFD, "int", FD_CLOEXEC);
  }
}
