import { closeSync, constants, openSync } from "node:fs";
import { constants as numbers } from "node:os";
import { hasFunction } from "../libc/bind.js";
import { duplicate, FIRST_AFTER_STREAMS, listDescriptors, tooManyFiles } from "../libc/descriptors.js";
import { addressOf, lastErrno } from "../libc/koffi.js";
import type { Libc } from "../libc/libc.js";
import type { ExitStatus } from "./exit-status.js";

/** A program to start as the leader of a new session. It inherits only the descriptors named here. */
export interface ChildStart {
  file: string;
  /** Bytes where they are no UTF-8 text. */
  argv: readonly (string | Uint8Array)[];
  env: Readonly<Record<string, string>>;
  cwd: string;
  stdio: ChildStdio;
  /** The child gets them as 3, 4, …, or after those that `stdio` names. The caller keeps ownership. */
  descriptors: readonly number[];
  /** Whether this process stays alive until the child has ended. Default true. */
  keepsAlive?: boolean;
  /** Called once, in a later turn of the event loop. */
  onExit(status: ExitStatus): void;
}

/**
 * The path of a terminal's slave side, which becomes the controlling terminal unless `controlled` is false; or descriptors,
 * null for /dev/null; or all descriptors that the child gets, each with its number there.
 */
export type ChildStdio =
  | { terminal: string; controlled: boolean }
  | { stdin: number | null; stdout: number | null; stderr: number | null }
  | { passed: readonly (readonly [fd: number, number: number])[] };

/** The number of the first of `ChildStart.descriptors` in the child. */
export const firstDescriptor = (stdio: ChildStdio): number =>
  "passed" in stdio
    ? Math.max(FIRST_AFTER_STREAMS, ...stdio.passed.map(([, number]) => number + 1))
    : FIRST_AFTER_STREAMS;

/** spawn.h and fcntl.h of Linux, the same in glibc and musl. */
const POSIX_SPAWN_SETSIGDEF = 0x04;
const POSIX_SPAWN_SETSIGMASK = 0x08;
const POSIX_SPAWN_SETSID = 0x80;
const O_RDONLY = 0;
const O_WRONLY = 1;
const O_RDWR = 2;
const O_NOCTTY = 0o400;

/** Larger than the opaque structures of any C library: 336 and 80 bytes in glibc. */
const ATTRIBUTES_BYTES = 1024;
const ACTIONS_BYTES = 512;
const SIGNAL_SET_BYTES = 128;

/** A new session, and default signal handling, as Node ignores SIGPIPE, for example. */
function createAttributes(libc: Libc): Buffer {
  const attributes = Buffer.alloc(ATTRIBUTES_BYTES);
  libc.posix_spawnattr_init(attributes);
  const flags = POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK;
  if (libc.posix_spawnattr_setflags(attributes, flags) !== 0) {
    throw new Error(
      "the C library of this host is too old to start programs in a new session; glibc 2.26 or newer is needed",
    );
  }
  libc.posix_spawnattr_setsigdefault(attributes, Buffer.alloc(SIGNAL_SET_BYTES, 0xff));
  libc.posix_spawnattr_setsigmask(attributes, Buffer.alloc(SIGNAL_SET_BYTES));
  return attributes;
}

/** Returns a function that starts a child and returns its pid; it throws an error with a `code` when nothing was started. */
export function createSpawn(libc: Libc): (start: ChildStart) => number {
  const host: SpawnHost = {
    libc,
    attributes: createAttributes(libc),
    canChangeDirectory: hasFunction(libc, CHANGE_DIRECTORY),
    canCloseFrom: hasFunction(libc, CLOSE_FROM),
  };
  return (start) => spawn(host, start);
}

/** The attributes of every child, and the capabilities of the C library. */
interface SpawnHost {
  libc: Libc;
  attributes: Buffer;
  canChangeDirectory: boolean;
  canCloseFrom: boolean;
}

function spawn(host: SpawnHost, { file, argv, env, ...start }: ChildStart): number {
  const { libc, attributes, canChangeDirectory } = host;
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const { given, close } = raiseDescriptors(libc, start);
  const actions = createActions(host, given);
  if (canChangeDirectory) libc[CHANGE_DIRECTORY](actions, start.cwd);
  const pid = new Int32Array(1);
  const runHere = (path: string, words: readonly (string | Uint8Array)[]): number => {
    const end = [...variables, null];
    if (isText(words)) return libc.posix_spawn(pid, path, actions, attributes, [...words, null], end);
    const { vector, memory } = toPointers(words);
    inUse.add(memory);
    try {
      return libc.posix_spawn(pid, path, actions, attributes, vector, end);
    } finally {
      inUse.delete(memory);
    }
  };
  const run: typeof runHere = (path, words) =>
    canChangeDirectory ? runHere(path, words) : inDirectory(libc, start.cwd, () => runHere(path, words));
  try {
    let error = run(file, argv);
    // A script without `#!` is run by the shell, as by execvp.
    if (error !== 0 && nameOf(error) === "ENOEXEC") error = run(SHELL, [SHELL, file, ...argv.slice(1)]);
    if (error === 0) return pid[0]!;
    throw Object.assign(new Error(`posix_spawn ${file}: ${nameOf(error)}`), { code: nameOf(error) });
  } finally {
    libc.posix_spawn_file_actions_destroy(actions);
    close();
  }
}

/** `char *const argv[]`, with the memory that it points to, which must stay referenced. */
function toPointers(words: readonly (string | Uint8Array)[]): { vector: BigUint64Array; memory: Buffer } {
  const parts = words.map((word) => Buffer.concat([Buffer.from(word), Buffer.alloc(1)]));
  const memory = Buffer.concat(parts);
  let next = addressOf(memory);
  const pointers = parts.map(({ length }) => {
    const pointer = next;
    next += BigInt(length);
    return pointer;
  });
  return { vector: BigUint64Array.from([...pointers, 0n]), memory };
}

const isText = (words: readonly (string | Uint8Array)[]): words is readonly string[] =>
  words.every((word) => typeof word === "string");

/** Memory that native code reads by its address: otherwise it could be collected meanwhile. */
const inUse = new Set<Buffer>();

const SHELL = "/bin/sh";
const CHANGE_DIRECTORY = "posix_spawn_file_actions_addchdir_np";
const CLOSE_FROM = "posix_spawn_file_actions_addclosefrom_np";

/**
 * For libraries that cannot start a child in another directory: this process changes to it for the duration of the call.
 * Returns an errno. @throws when it would be unable to change back, before changing the directory
 */
function inDirectory(libc: Libc, directory: string, call: () => number): number {
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
 * The child duplicates descriptors to their new numbers one after the other, which could close one that is still to be
 * duplicated. So descriptors with a low number are replaced by copies above all new numbers; `close` closes the copies.
 * @throws an error with the code EMFILE
 */
function raiseDescriptors(libc: Libc, { stdio, descriptors }: Given): { given: Given; close(): void } {
  const least = firstDescriptor(stdio) + descriptors.length;
  const copies: number[] = [];
  const close = () => {
    for (const fd of copies) closeSync(fd);
  };
  const raise = (fd: number): number => {
    if (fd >= least) return fd;
    const copy = duplicate(libc, fd, least);
    if (copy === -1) throw tooManyFiles(libc);
    copies.push(copy);
    return copy;
  };
  try {
    const raised = descriptors.map(raise);
    const raiseStream = (fd: number | null) => (fd === null ? null : raise(fd));
    if ("terminal" in stdio) return { given: { stdio, descriptors: raised }, close };
    if ("passed" in stdio) {
      const passed = stdio.passed.map(([fd, number]) => [raise(fd), number] as const);
      return { given: { stdio: { passed }, descriptors: raised }, close };
    }
    const { stdin, stdout, stderr } = stdio;
    const streams = { stdin: raiseStream(stdin), stdout: raiseStream(stdout), stderr: raiseStream(stderr) };
    return { given: { stdio: streams, descriptors: raised }, close };
  } catch (error) {
    close();
    throw error;
  }
}

/** The name of an errno, as in errno.h. */
const nameOf = (errno: number): string =>
  Object.entries(numbers.errno).find(([, value]) => value === errno)?.[0] ?? `errno ${errno}`;

/** The child's actions between setsid and exec. A terminal that a session leader opens becomes its controlling terminal. */
function createActions({ libc, canCloseFrom }: SpawnHost, { stdio, descriptors }: Given): Buffer {
  const first = firstDescriptor(stdio);
  const actions = Buffer.alloc(ACTIONS_BYTES);
  libc.posix_spawn_file_actions_init(actions);
  if ("terminal" in stdio) {
    const flags = stdio.controlled ? O_RDWR : O_RDWR | O_NOCTTY;
    libc.posix_spawn_file_actions_addopen(actions, 0, stdio.terminal, flags, 0);
    libc.posix_spawn_file_actions_adddup2(actions, 0, 1);
    libc.posix_spawn_file_actions_adddup2(actions, 0, 2);
  } else if ("passed" in stdio) {
    for (const [fd, number] of stdio.passed) libc.posix_spawn_file_actions_adddup2(actions, fd, number);
  } else {
    [stdio.stdin, stdio.stdout, stdio.stderr].forEach((fd, stream) => {
      if (fd !== null) libc.posix_spawn_file_actions_adddup2(actions, fd, stream);
      else libc.posix_spawn_file_actions_addopen(actions, stream, "/dev/null", stream === 0 ? O_RDONLY : O_WRONLY, 0);
    });
  }
  descriptors.forEach((fd, index) => {
    libc.posix_spawn_file_actions_adddup2(actions, fd, index + first);
  });
  // The embedding program may have inheritable descriptors, which the child must not get.
  const taken = new Set("passed" in stdio ? stdio.passed.map(([, number]) => number) : []);
  // Between those that it gets.
  if ("passed" in stdio) {
    const others = listDescriptors(0).filter((fd) => fd < first && !taken.has(fd));
    for (const fd of others) libc.posix_spawn_file_actions_addclose(actions, fd);
  }
  const least = first + descriptors.length;
  if (canCloseFrom) libc[CLOSE_FROM](actions, least);
  else for (const fd of listDescriptors(least)) libc.posix_spawn_file_actions_addclose(actions, fd);
  return actions;
}

/** Functions of the C library for starting and reaping children. */
export const SPAWN_FUNCTIONS = [
  "fcntl",
  "pipe2",
  "waitpid",
  "posix_spawn",
  "posix_spawn_file_actions_init",
  "posix_spawn_file_actions_destroy",
  "posix_spawn_file_actions_adddup2",
  "posix_spawn_file_actions_addopen",
  "posix_spawnattr_init",
  "posix_spawnattr_setflags",
  "posix_spawnattr_setsigdefault",
  "posix_spawnattr_setsigmask",
] as const satisfies readonly (keyof Libc)[];
