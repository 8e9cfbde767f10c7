import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { closeOnExec, tooManyFiles } from "../libc/descriptors.js";
import { requireHere, requireNative } from "../libc/koffi.js";
import type { Libc } from "../libc/libc.js";

/** Pseudo-terminals through node-pty's native binding, as node-pty's public `open` would start to read both ends. */
export interface Terminals {
  /**
   * Opens a terminal. The master is non-blocking; children inherit neither end. `path` is that of the slave.
   * @throws an error that names the exhausted resource
   */
  openTerminal(size: TerminalSize): { master: number; slave: number; path: string };
  /** @throws a system error when the terminal is closed */
  resizeTerminal(master: number, size: TerminalSize): void;
  /** Starts a program on a new terminal with node-pty's own fork, where `Children` cannot make it lead a session. */
  forkTerminal(start: ForkTerminal): { master: number; pid: number };
}

/** A size in character cells. */
interface TerminalSize {
  rows: number;
  cols: number;
}

/** A program for `Terminals.forkTerminal`. */
interface ForkTerminal {
  file: string;
  args: readonly string[];
  /** `NAME=value` each. */
  env: readonly string[];
  cwd: string;
  size: TerminalSize;
  /** Called once. `signal` is 0 for a program that was not killed by one. */
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

/** @param getLibc called with the first terminal */
export function createTerminals(getLibc: () => Libc): Terminals {
  let binding: { dir: string; module: PtyBinding } | undefined;
  const load = () => {
    binding ??= (requireNative("node-pty/lib/utils.js") as PtyLoader).loadNativeModule("pty");
    return binding;
  };
  return {
    openTerminal(size) {
      const libc = getLibc();
      const { fcntl } = libc; // where it is missing, nothing is opened
      const { master, slave, pty: path } = openPty(load().module, size, libc);
      // openpty makes both ends inheritable: every later child would keep this terminal open and could write to it.
      closeOnExec({ fcntl }, master);
      closeOnExec({ fcntl }, slave);
      return { master, slave, path };
    },
    resizeTerminal(master, { rows, cols }) {
      load().module.resize(master, cols, rows, 0, 0);
    },
    forkTerminal({ file, args, env, cwd, size, onExit }) {
      const { dir, module } = load();
      const libc = { fcntl: getLibc().fcntl }; // before starting a program that could not be managed without it
      const helper = process.platform === "darwin" ? findHelper(dir) : "";
      const forked = module.fork(file, args, env, cwd, size.cols, size.rows, -1, -1, true, helper, onExit);
      closeOnExec(libc, forked.fd);
      return { master: forked.fd, pid: forked.pid };
    },
  };
}

/** The helper program with which node-pty starts programs on macOS. */
const findHelper = (dir: string): string => requireHere().resolve(`node-pty/lib/${dir}/spawn-helper`);

/** Opens a terminal; unlike node-pty's error, this one names the exhausted resource. */
function openPty({ open }: PtyBinding, { cols, rows }: TerminalSize, libc: Libc): ReturnType<PtyBinding["open"]> {
  try {
    return open(cols, rows);
  } catch (cause) {
    throw findTerminalProblem(libc) ?? cause;
  }
}

/** Opens a master side again, to get the error code of the system call. */
function findTerminalProblem(libc: Libc): Error | undefined {
  try {
    const { O_RDWR, O_NOCTTY } = constants;
    const fds = [openSync("/dev/ptmx", O_RDWR | O_NOCTTY)];
    try {
      fds.push(openSync("/dev/null", O_RDWR)); // in place of the slave side
      return undefined;
    } finally {
      for (const fd of fds) closeSync(fd);
    }
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException; // as thrown by openSync
    if (code === "EMFILE") return tooManyFiles(libc);
    if (code !== "ENOSPC") return new Error(message, { cause });
    return new Error(`this host has no terminal left: all ${readPtyLimit()} are in use (kernel.pty.max)`, { cause });
  }
}

function readPtyLimit(): string {
  try {
    return readFileSync("/proc/sys/kernel/pty/max", "latin1").trim();
  } catch {
    return "its terminals";
  }
}
