import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  bindLibc,
  closeOnExec,
  duplicate,
  hasFunction,
  type Libc,
  type Library,
  loadLibc,
  requireNative,
  tooManyFiles,
} from "./libc.js";
import { createReadMemory, type ReadMemory } from "./output/byte-source.js";
import { createOpenFlood } from "./output/flood.js";
import { ReadTurns } from "./output/read-turns.js";
import { type Children, createChildren } from "./process/children.js";
import type { NativeMarks } from "./process/marks.js";
import { createNativeMarks } from "./process/native-marks.js";
import { shieldProcess } from "./process/shield.js";

/**
 * The few system calls that Node does not offer, loaded at the first terminal or pipe so that start-up does not pay.
 * Terminals come from node-pty's binding, called directly: its public `open` starts to read both ends by itself.
 * Everything else is one libc function each, called through koffi.
 */
export interface Native {
  /** A new terminal; the master is non-blocking and is not inherited by children. */
  openTerminal(size: TerminalSize): { master: number; slave: number; path: string };
  readonly readMemory: ReadMemory;
  readonly readTurns: ReadTurns;
  resizeTerminal(master: number, size: TerminalSize): void;
  /** Starts a program on a new terminal with node-pty's own fork: where `openTerminal` cannot make it a session. */
  forkTerminal(start: ForkTerminal): { master: number; pid: number };
  /** A pipe whose ends are not inherited by children. Linux. */
  openPipe(): { read: number; write: number };
  /** Linux: a file without a name that holds these bytes, to be read from its beginning by one child. */
  createMemoryFile(bytes: Uint8Array): number;
  /** Linux: locks an open file or directory without waiting; a lock that is held changes its kind. False when others have it. */
  lock(fd: number, kind: "shared" | "exclusive"): boolean;
  /** Linux. */
  readonly children: Children;
  /** Undefined on a host without marks. */
  readonly marks: NativeMarks | undefined;
  /** No program of the same user may read the memory or the environment of this process, or trace it. Linux. */
  shield(): void;
  /** Gives free memory of the C library back to the system, where that library can. */
  trimMemory(): void;
  /** Undefined for a process that is gone. Linux. */
  getGroup(pid: number): number | undefined;
}

interface TerminalSize {
  rows: number;
  cols: number;
}

interface ForkTerminal {
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

/** fcntl.h of Linux. */
const O_CLOEXEC = 0o2000000;

/** sys/mman.h and sys/file.h of Linux. */
const MFD_CLOEXEC = 1;
const LOCK_SH = 1;
const LOCK_EX = 2;
const LOCK_NB = 4;

export interface NativeOptions {
  /** Reads of a pipe that fills as fast as it is emptied, 64 KiB each, before everybody else has a turn. Default 1. */
  fullReads?: number;
}

/** @param library in place of the C library of this process */
export function createNative(library?: Library, { fullReads }: NativeOptions = {}): Native {
  const readTurns = new ReadTurns(fullReads);
  let binding: { dir: string; module: PtyBinding } | undefined;
  const pty = () => {
    binding ??= (requireNative("node-pty/lib/utils.js") as PtyLoader).loadNativeModule("pty");
    return binding;
  };
  let libc: Libc | undefined;
  const getLibc = () => {
    libc ??= loadLibc(library);
    return libc;
  };
  let children: Children | undefined;
  let marks: { native: NativeMarks | undefined } | undefined;
  let readMemory: ReadMemory | undefined;
  let trim: ((keepBytes: number) => void) | undefined;
  return {
    get readMemory() {
      readMemory ??= createReadMemory(
        getLibc().read,
        process.platform === "linux" ? createOpenFlood(getLibc()) : () => undefined,
        readTurns,
      );
      return readMemory;
    },
    readTurns,
    openTerminal({ rows, cols }) {
      const { master, slave, pty: path } = openPty(pty().module, { cols, rows }, getLibc());
      // openpty leaves both ends inheritable: every later child would hold this terminal open and could type into it.
      closeOnExec(getLibc(), master);
      closeOnExec(getLibc(), slave);
      return { master, slave, path };
    },
    resizeTerminal(master, { rows, cols }) {
      pty().module.resize(master, cols, rows, 0, 0);
    },
    forkTerminal({ file, args, env, cwd, size, onExit }) {
      const { dir, module } = pty();
      const helper = createRequire(import.meta.url).resolve(`node-pty/lib/${dir}/spawn-helper`);
      const forked = module.fork(file, args, env, cwd, size.cols, size.rows, -1, -1, true, helper, onExit);
      closeOnExec(getLibc(), forked.fd);
      return { master: forked.fd, pid: forked.pid };
    },
    openPipe() {
      const ends = new Int32Array(2);
      if (getLibc().pipe2(ends, O_CLOEXEC) !== 0) throw tooManyFiles(getLibc());
      const [read, write] = Array.from(ends, (fd) => aboveStreams(getLibc(), fd));
      return { read: read!, write: write! };
    },
    createMemoryFile(bytes) {
      const fd = aboveStreams(getLibc(), openMemory(getLibc()));
      // At a place, so that the reader, who shares the offset, begins at 0.
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
      return fd;
    },
    lock: (fd, kind) => getLibc().flock(fd, (kind === "shared" ? LOCK_SH : LOCK_EX) | LOCK_NB) === 0,
    get children() {
      children ??= createChildren(getLibc());
      return children;
    },
    get marks() {
      marks ??= { native: process.platform === "linux" ? createNativeMarks(getLibc()) : undefined };
      return marks.native;
    },
    shield: () => shieldProcess(getLibc()),
    trimMemory() {
      if (process.platform !== "linux") return;
      trim ??= loadTrim();
      trim(0);
    },
    getGroup(pid) {
      const group = getLibc().getpgid(pid);
      return group < 0 ? undefined : group;
    },
  };
}

/** @throws an error that says what there is too little of: node-pty does not */
function openPty({ open }: PtyBinding, { cols, rows }: TerminalSize, libc: Libc): ReturnType<PtyBinding["open"]> {
  try {
    return open(cols, rows);
  } catch (cause) {
    throw findTerminalProblem(libc) ?? cause;
  }
}

/** Asks for the master side of one again. */
function findTerminalProblem(libc: Libc): Error | undefined {
  try {
    const { O_RDWR, O_NOCTTY } = constants;
    const fds = [openSync("/dev/ptmx", O_RDWR | O_NOCTTY)];
    try {
      fds.push(openSync("/dev/null", O_RDWR)); // for the slave side
      return undefined;
    } finally {
      for (const fd of fds) closeSync(fd);
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException; // what openSync throws
    if (code === "EMFILE") return tooManyFiles(libc);
    const detail = cause instanceof Error ? cause.message : String(cause);
    if (code !== "ENOSPC") return new Error(detail, { cause });
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

/** Only glibc has it. */
function loadTrim(): (keepBytes: number) => void {
  try {
    return bindLibc<{ malloc_trim(keepBytes: number): void }>({ malloc_trim: "int malloc_trim(size_t keep)" })
      .malloc_trim;
  } catch {
    return () => {};
  }
}

/** Where the C library has no files in memory, one of the file system stands in, without a name either. */
function openMemory(libc: Libc): number {
  if (!hasFunction(libc, "memfd_create")) return openNameless();
  const opened = libc.memfd_create("codex", MFD_CLOEXEC);
  if (opened === -1) throw tooManyFiles(libc);
  return opened;
}

function openNameless(): number {
  const directory = mkdtempSync(join(tmpdir(), "codex-memory-"));
  try {
    return openSync(join(directory, "file"), "wx+", 0o600);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** The numbers below are those of the standard streams, also of a process that was started without one of them. */
const FIRST_FREE = 3;

function aboveStreams(libc: Libc, fd: number): number {
  if (fd >= FIRST_FREE) return fd;
  const raised = duplicate(libc, fd, FIRST_FREE);
  closeSync(fd);
  if (raised === -1) throw tooManyFiles(libc);
  return raised;
}
