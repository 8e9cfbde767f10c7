import { readdirSync, readFileSync } from "node:fs";
import { Socket } from "node:net";
import { setImmediate, setTimeout } from "node:timers/promises";
import { hasEnded, readProcessStat } from "@codex/native";
import { MAX_STATUS_BYTES, NAMESPACE_END_DEADLINE_MS, PROGRAM_POLL_INTERVAL_MS } from "../limits.js";
import type { WrapperStatus } from "../wrapped-command.js";

/** Owns the descriptor. */
export function readWrapperStatus(fd: number): WrapperStatus {
  let text = "";
  const find = (name: string): number | undefined => {
    const found = new RegExp(`"${name}":\\s*(\\d+)`).exec(text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.setEncoding("latin1");
  let onStarted = (_init: number | undefined) => {};
  const started = new Promise<number | undefined>((resolve) => {
    onStarted = resolve;
  });
  socket.on("data", (data: string) => {
    if (text.length < MAX_STATUS_BYTES) text += data;
    const init = find("child-pid");
    if (init !== undefined) onStarted(init);
  });
  socket.on("error", () => {}); // `close` follows
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  void ended.then(() => onStarted(undefined));
  return {
    get init() {
      return find("child-pid");
    },
    get exitCode() {
      return find("exit-code");
    },
    started,
    ended,
  };
}

/** Whether the init process is gone, and so every other process of its namespace. */
export const hasNamespaceEnded = (init: number): boolean => hasEnded(readProcessStat(init));

/**
 * Resolves when nothing but its init process is left of a sandbox whose wrapper has ended; false after the deadline. The init
 * process was killed with the wrapper, and takes milliseconds to remove its mounts before the kernel kills the others.
 */
export async function untilNamespaceEnds(init: number): Promise<boolean> {
  // A wrapper that ends very early kills nothing: its child has not asked to die with it yet.
  if (!hasNamespaceEnded(init)) killProcess(init);
  const deadline = performance.now() + NAMESPACE_END_DEADLINE_MS;
  for (let polls = 0; listChildren(init).length > 0 && !hasNamespaceEnded(init); polls += 1) {
    if (performance.now() > deadline) return false;
    await (polls < IMMEDIATE_POLLS ? setImmediate() : setTimeout(POLL_INTERVAL_MS));
  }
  return true;
}

/**
 * Calls `onUnreported` once if the program has ended and nobody reports it: the first process of the sandbox or the wrapper, which
 * would, was stopped from outside (a debugger, SIGSTOP, a frozen control group). Returns a function that stops watching; it is idempotent.
 */
export function watchProgram(status: WrapperStatus, onUnreported: () => void): () => void {
  let program: number | undefined;
  let polls = 0;
  const timer = setInterval(() => {
    const { init } = status;
    if (init === undefined || status.exitCode !== undefined) return;
    const first = readProcessStat(init);
    program ??= findProgram(init);
    // A first process that is stopped right when the program ends may have waited for it, and not said so yet.
    const hasProgramEnded = program === undefined ? first?.hasReaped : hasEnded(readProcessStat(program));
    polls = hasEnded(first) || hasProgramEnded ? polls + 1 : 0;
    if (polls < UNREPORTED_POLLS) return;
    clearInterval(timer);
    onUnreported();
  }, PROGRAM_POLL_INTERVAL_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** An end is reported within microseconds, on a busy host within a second. */
const UNREPORTED_POLLS = 3;

function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}

/** Polls in successive turns of the event loop, before timers are used. */
const IMMEDIATE_POLLS = 20;
const POLL_INTERVAL_MS = 2;

/** The program itself: the first child of the first process. Undefined before it is there and after it has ended. */
export const findProgram = (init: number): number | undefined =>
  listChildren(init).find((pid) => innerPid(pid) === FIRST_PROGRAM);

/** Process 1 of a sandbox reaps orphans, and starts the program first. */
const FIRST_PROGRAM = 2;

function listChildren(pid: number): number[] {
  try {
    return toNumbers(readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" "));
  } catch {
    // A kernel without CONFIG_PROC_CHILDREN: reads the parent of every process.
    return toNumbers(readdirSync("/proc")).filter((child) => readProcessStat(child)?.ppid === pid);
  }
}

const toNumbers = (names: readonly string[]): number[] => names.map(Number).filter((pid) => pid > 0);

function innerPid(pid: number): number | undefined {
  const numbers = /^NSpid:\s*(.*)$/m.exec(readStatus(pid))?.[1];
  return numbers === undefined ? undefined : Number(numbers.split(/\s+/).at(-1));
}

/** Empty for a process that is gone. */
function readStatus(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/status`, "latin1");
  } catch {
    return "";
  }
}
