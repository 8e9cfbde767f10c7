import { readlink } from "node:fs/promises";
import type { InputWait, ProcessStdio } from "@codex/exec-backend";
import { readProcessStat } from "@codex/native";
import { MAX_INSPECTED_PROCESSES, MAX_INSPECTED_THREADS, MAX_POLLED_DESCRIPTORS } from "../limits.js";
import { isOwnProc } from "./namespaces.js";
import {
  type BlockedCall,
  listDescendants,
  listThreads,
  readBlockedCall,
  readEpollTargets,
  readMemory,
  readTarget,
} from "./proc.js";

/** Inspects the process that leads a session and its descendants. `unknown` elsewhere than on Linux. Never rejects. */
export const getInputWait = async (pid: number, stdio: ProcessStdio): Promise<InputWait> =>
  (await findReader(pid, stdio)).wait;

/** The current directory of the process that waits for the session's input; undefined where none waits, or it is not known. Never rejects. */
export async function getInputDirectory(pid: number, stdio: ProcessStdio): Promise<string | undefined> {
  const { wait, reader } = await findReader(pid, stdio);
  if (wait !== "waits" || reader === undefined) return undefined;
  return readlink(`/proc/${reader}/cwd`).catch(() => undefined);
}

/** `reader`: the process that waits. */
async function findReader(pid: number, stdio: ProcessStdio): Promise<{ wait: InputWait; reader?: number }> {
  if (stdio.kind === "pipe" && stdio.stdin === "null") return { wait: "busy" };
  const calls = CALLS[process.arch];
  if (process.platform !== "linux" || calls === undefined || !isOwnProc()) return { wait: "unknown" };
  const source = stdio.kind === "pty" ? findTerminal(pid) : await findPipe(pid);
  if (source === undefined) return { wait: "unknown" };
  let wait: InputWait = "busy";
  for (const reader of listDescendants(pid, MAX_INSPECTED_PROCESSES)) {
    if (!source.mayRead(reader)) continue;
    const found = await inspectProcess(reader, calls, source);
    if (found === "waits") return { wait: found, reader };
    if (found === "listens" || wait === "busy") wait = found;
  }
  return { wait };
}

/** Where the input of a session comes from. */
interface InputSource {
  /** Whether input is for this process at present. */
  mayRead(pid: number): boolean;
  isAt(target: { dev: number; ino: number; rdev: number }): boolean;
}

/** Input on a terminal is for its foreground group. */
function findTerminal(leader: number): InputSource | undefined {
  const own = readProcessStat(leader);
  if (own === undefined || own.tty === 0 || own.foreground <= 0) return undefined;
  const isForeground = (pid: number) => readProcessStat(pid)?.pgrp === own.foreground;
  return { mayRead: isForeground, isAt: ({ rdev }) => rdev === own.tty || rdev === DEV_TTY };
}

/** Device number of /dev/tty, a process's own terminal by any name. */
const DEV_TTY = 5 << 8;

async function findPipe(leader: number): Promise<InputSource | undefined> {
  const stdin = await readTarget(leader, 0);
  if (stdin === undefined) return undefined;
  return { mayRead: () => true, isAt: ({ dev, ino }) => dev === stdin.dev && ino === stdin.ino };
}

async function inspectProcess(pid: number, calls: Calls, source: InputSource): Promise<InputWait> {
  let result: InputWait = "busy";
  for (const thread of listThreads(pid, MAX_INSPECTED_THREADS)) {
    const call = await readBlockedCall(pid, thread);
    if (call === undefined) result = result === "busy" ? "unknown" : result;
    if (call === undefined || call === "running") continue;
    const awaited = await findAwaited(pid, call, calls);
    const targets = await Promise.all(awaited.map((fd) => readTarget(pid, fd)));
    if (!targets.some((target) => target !== undefined && source.isAt(target))) continue;
    if (targets.every((target) => target === undefined || source.isAt(target))) return "waits";
    result = "listens";
  }
  return result;
}

/** The descriptors whose input a system call waits for. */
async function findAwaited(pid: number, { number, args }: BlockedCall, calls: Calls): Promise<number[]> {
  const [first = 0, second = 0] = args;
  switch (calls.get(number)) {
    case "read":
      return [first];
    case "poll":
      return readPolled(pid, first, second);
    case "select":
      return readSelected(pid, first, second);
    case "epoll":
      return readEpollTargets(pid, first);
    case undefined:
      return [];
  }
}

/** `struct pollfd`: descriptor, 4 bytes; requested and returned events, 2 bytes each. */
const POLLFD_BYTES = 8;
const POLLIN = 1;

async function readPolled(pid: number, address: number, count: number): Promise<number[]> {
  if (count === 0 || count > MAX_POLLED_DESCRIPTORS) return [];
  const bytes = await readMemory(pid, address, count * POLLFD_BYTES);
  if (bytes === undefined) return [];
  const entries = Array.from({ length: count }, (_, index) => index * POLLFD_BYTES);
  return entries
    .filter((at) => bytes.readInt32LE(at) >= 0 && (bytes.readInt16LE(at + 4) & POLLIN) !== 0)
    .map((at) => bytes.readInt32LE(at));
}

/** The bits of an `fd_set`, which still holds the request while the call is blocked. */
async function readSelected(pid: number, count: number, address: number): Promise<number[]> {
  if (count === 0 || count > MAX_POLLED_DESCRIPTORS || address === 0) return [];
  const bytes = await readMemory(pid, address, Math.ceil(count / 8));
  if (bytes === undefined) return [];
  return Array.from({ length: count }, (_, fd) => fd).filter((fd) => (bytes[fd >> 3]! & (1 << (fd & 7))) !== 0);
}

type Calls = ReadonlyMap<number, "read" | "poll" | "select" | "epoll">;

/** Numbers of system calls: the kernel's tables `syscall_64.tbl` and `asm-generic/unistd.h`. */
const CALLS: Readonly<Partial<Record<NodeJS.Architecture, Calls>>> = {
  x64: new Map([
    [0, "read"],
    [19, "read"], // readv
    [7, "poll"],
    [271, "poll"], // ppoll
    [23, "select"],
    [270, "select"], // pselect6
    [232, "epoll"], // epoll_wait
    [281, "epoll"], // epoll_pwait
    [441, "epoll"], // epoll_pwait2
  ]),
  arm64: new Map([
    [63, "read"],
    [65, "read"], // readv
    [73, "poll"], // ppoll
    [72, "select"], // pselect6
    [22, "epoll"], // epoll_pwait
    [441, "epoll"], // epoll_pwait2
  ]),
};
