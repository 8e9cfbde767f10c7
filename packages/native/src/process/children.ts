import { closeSync, constants, openSync } from "node:fs";
import { constants as numbers } from "node:os";
import { duplicate, hasFunction, type Libc, lastErrno, tooManyFiles } from "../libc.js";
import { isMainThread } from "./main-thread.js";
import { getSignalName } from "./signal-name.js";

/** A program to start as the leader of a new session. */
export interface ChildStart {
  file: string;
  argv: readonly string[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  stdio: ChildStdio;
  /** Given to it as 3, 4, …, whatever their own numbers are. */
  descriptors: readonly number[];
  /** False: this process may end before it does. Default true. */
  keepsAlive?: boolean;
  /** Called once, in a later turn. */
  onExit(status: ExitStatus): void;
}

export type ExitStatus = { code: number } | { signal: string };

/**
 * The path of a terminal's slave side, which becomes the controlling terminal unless `controlled` is false; or descriptors,
 * null for /dev/null.
 */
export type ChildStdio =
  | { terminal: string; controlled: boolean }
  | { stdin: number | null; stdout: number | null; stderr: number | null };

/**
 * Starts programs with `posix_spawn` and collects them when they end. Linux. Node's own `spawn` forks: it copies the page
 * tables of this process, which takes ten times as long, and more the larger its heap is.
 */
export interface Children {
  /** Returns the pid. @throws an error with a `code` such as `E2BIG` when nothing was started */
  spawn(start: ChildStart): number;
}

/** spawn.h and fcntl.h of Linux, the same in glibc and musl. */
const POSIX_SPAWN_SETSIGDEF = 0x04;
const POSIX_SPAWN_SETSIGMASK = 0x08;
const POSIX_SPAWN_SETSID = 0x80;
const O_RDONLY = 0;
const O_WRONLY = 1;
const O_RDWR = 2;
const O_NOCTTY = 0o400;
const WNOHANG = 1;

/** More than the opaque structures take in any C library: 336 and 80 bytes in glibc. */
const ATTRIBUTES_BYTES = 1024;
const ACTIONS_BYTES = 512;
const SIGNAL_SET_BYTES = 128;

/** Milliseconds between two looks at children that nobody told about; in a worker no signal does. */
const LOOK_MS = 1_000;
const WORKER_LOOK_MS = 5;

export function createChildren(libc: Libc): Children {
  const attributes = createAttributes(libc);
  const inMainThread = isMainThread();
  const running = new Map<number, ChildStart["onExit"]>();
  /** Those of them that do not keep this process alive. */
  const background = new Set<number>();
  const status = new Int32Array(1);
  let looking: NodeJS.Timeout | undefined;

  const collect = () => {
    for (const [pid, onExit] of running) {
      if (libc.waitpid(pid, status, WNOHANG) !== pid) continue;
      running.delete(pid);
      background.delete(pid);
      onExit(parseStatus(status[0]!));
    }
    look(running.size, running.size - background.size);
  };
  /** The timer also keeps this process alive for its children, which a handler of signals does not. */
  const look = (children: number, waitedFor: number) => {
    if (inMainThread) children > 0 ? watchEnds(collect) : unwatchEnds(collect);
    if (waitedFor > 0) looking ??= setInterval(collect, inMainThread ? LOOK_MS : WORKER_LOOK_MS);
    else {
      clearInterval(looking);
      looking = undefined;
    }
  };
  return {
    spawn(start) {
      const { keepsAlive = true, onExit } = start;
      // Before it is there: its end must not be missed.
      look(running.size + 1, running.size - background.size + Number(keepsAlive));
      try {
        const pid = spawn(libc, attributes, start);
        running.set(pid, onExit);
        if (!keepsAlive) background.add(pid);
        return pid;
      } finally {
        look(running.size, running.size - background.size);
      }
    },
  };
}

/** Called when a child has ended, maybe another's. One handler for all: a process may have any number of backends. */
const watchers = new Set<() => void>();

function watchEnds(watcher: () => void): void {
  if (watchers.size === 0) process.on("SIGCHLD", tellWatchers);
  watchers.add(watcher);
}

function unwatchEnds(watcher: () => void): void {
  watchers.delete(watcher);
  if (watchers.size === 0) process.off("SIGCHLD", tellWatchers);
}

function tellWatchers(): void {
  for (const tell of [...watchers]) tell();
}

/** A session of its own, and the signals as a program expects them: Node ignores SIGPIPE, for one. */
function createAttributes(libc: Libc): Buffer {
  const attributes = Buffer.alloc(ATTRIBUTES_BYTES);
  libc.posix_spawnattr_init(attributes);
  const flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  if (libc.posix_spawnattr_setflags(attributes, flags) !== 0) {
    throw new Error("the C library of this host is too old to start programs in sessions of their own: glibc 2.26 can");
  }
  libc.posix_spawnattr_setsigdefault(attributes, Buffer.alloc(SIGNAL_SET_BYTES, 0xff));
  libc.posix_spawnattr_setsigmask(attributes, Buffer.alloc(SIGNAL_SET_BYTES));
  return attributes;
}

function spawn(libc: Libc, attributes: Buffer, { file, argv, env, ...start }: ChildStart): number {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const { given, close } = liftDescriptors(libc, start);
  const actions = createActions(libc, given);
  const canChange = hasFunction(libc, CHANGE_DIRECTORY);
  if (canChange) libc[CHANGE_DIRECTORY](actions, start.cwd);
  const pid = new Int32Array(1);
  const runHere = (path: string, words: readonly string[]): number =>
    libc.posix_spawn(pid, path, actions, attributes, [...words, null], [...variables, null]);
  const run: typeof runHere = (path, words) =>
    canChange ? runHere(path, words) : within(libc, start.cwd, () => runHere(path, words));
  try {
    let error = run(file, argv);
    // A script without `#!` is one of the shell, as execvp has it.
    if (error !== 0 && nameOf(error) === "ENOEXEC") error = run(SHELL, [SHELL, file, ...argv.slice(1)]);
    if (error === 0) return pid[0]!;
    throw Object.assign(new Error(`posix_spawn ${file}: ${nameOf(error)}`), { code: nameOf(error) });
  } finally {
    libc.posix_spawn_file_actions_destroy(actions);
    close();
  }
}

const SHELL = "/bin/sh";
const CHANGE_DIRECTORY = "posix_spawn_file_actions_addchdir_np";

/**
 * For libraries that cannot start a child elsewhere: this process is in the directory for as long as the call takes. Returns an
 * errno. @throws where it cannot come back, and has not left then
 */
function within(libc: Libc, directory: string, call: () => number): number {
  const here = openSync(".", O_PATH | constants.O_DIRECTORY);
  try {
    if (libc.chdir(directory) !== 0) return lastErrno();
    try {
      return call();
    } finally {
      libc.fchdir(here);
    }
  } finally {
    closeSync(here);
  }
}

/** fcntl.h of Linux: a descriptor of a directory that need not be readable. */
const O_PATH = 0o10000000;

type Given = Pick<ChildStart, "stdio" | "descriptors">;

/**
 * The child gets one descriptor after the other under its new number: none of them may have a number that another one gets.
 * Copies stand for those that do, until they are closed. @throws an error with the code EMFILE
 */
function liftDescriptors(libc: Libc, { stdio, descriptors }: Given): { given: Given; close(): void } {
  const least = FIRST_DESCRIPTOR + descriptors.length;
  const copies: number[] = [];
  const close = () => {
    for (const fd of copies) closeSync(fd);
  };
  const lift = (fd: number): number => {
    if (fd >= least) return fd;
    const copy = duplicate(libc, fd, least);
    if (copy === -1) throw tooManyFiles(libc);
    copies.push(copy);
    return copy;
  };
  try {
    const lifted = descriptors.map(lift);
    const liftStream = (fd: number | null) => (fd === null ? null : lift(fd));
    if ("terminal" in stdio) return { given: { stdio, descriptors: lifted }, close };
    const { stdin, stdout, stderr } = stdio;
    const streams = { stdin: liftStream(stdin), stdout: liftStream(stdout), stderr: liftStream(stderr) };
    return { given: { stdio: streams, descriptors: lifted }, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** After stdin, stdout and stderr. */
const FIRST_DESCRIPTOR = 3;

/** As in errno.h. */
const nameOf = (errno: number): string =>
  Object.entries(numbers.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`;

/** What the child does between the new session and the program. A session leader that opens a terminal controls it. */
function createActions(libc: Libc, { stdio, descriptors }: Given): Buffer {
  const actions = Buffer.alloc(ACTIONS_BYTES);
  libc.posix_spawn_file_actions_init(actions);
  if ("terminal" in stdio) {
    const flags = stdio.controlled ? O_RDWR : O_RDWR | O_NOCTTY;
    libc.posix_spawn_file_actions_addopen(actions, 0, stdio.terminal, flags, 0);
    libc.posix_spawn_file_actions_adddup2(actions, 0, 1);
    libc.posix_spawn_file_actions_adddup2(actions, 0, 2);
  } else {
    [stdio.stdin, stdio.stdout, stdio.stderr].forEach((fd, stream) => {
      if (fd !== null) libc.posix_spawn_file_actions_adddup2(actions, fd, stream);
      else libc.posix_spawn_file_actions_addopen(actions, stream, "/dev/null", stream === 0 ? O_RDONLY : O_WRONLY, 0);
    });
  }
  descriptors.forEach((fd, index) => {
    libc.posix_spawn_file_actions_adddup2(actions, fd, index + FIRST_DESCRIPTOR);
  });
  return actions;
}

/** The status of waitpid(2): a signal in the lowest 7 bits, else the code in the next byte. */
function parseStatus(status: number): ExitStatus {
  const signal = status & 0x7f;
  return signal === 0 ? { code: (status >> 8) & 0xff } : { signal: getSignalName(signal) };
}
