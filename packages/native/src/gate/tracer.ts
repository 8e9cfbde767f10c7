import type { KernelCalls } from "./kernel-calls.js";

/** What became of a caller that was let go on while it is traced. */
export type TracedEnd<Item> =
  /** It has become another program, which has run no instruction: `release` or `kill` it. */
  | { kind: "started"; item: Item; pid: number }
  /** Its call failed, or it is gone. It is not traced any more. */
  | { kind: "failed"; item: Item };

/** @param signal that it would get; 0 where it only was interrupted. `wait`: it goes on without it, until it stops again. */
export type OnStop = (signal: number) => "wait" | "release";

/** Stops callers inside of `execve`, where the new program is there and nobody else has its memory. Never waits. */
export class Tracer<Item> {
  readonly #calls: KernelCalls;
  readonly #onExit: (pid: number, status: number) => void;
  /** By the id of the thread. */
  readonly #traced = new Map<number, { item: Item; onStop: OnStop | undefined }>();
  /** Killed processes, whose parents are told once the tracer has been. */
  readonly #dying = new Set<number>();
  readonly #ended: TracedEnd<Item>[] = [];
  readonly #status = new Int32Array(1);
  readonly #message = new BigUint64Array(1);

  /** @param onExit called for a process that ended while it was traced; nobody else can wait for it if it is a child of this one */
  constructor(calls: KernelCalls, onExit: (pid: number, status: number) => void) {
    this.#calls = calls;
    this.#onExit = onExit;
  }

  get count(): number {
    return this.#traced.size + this.#dying.size;
  }

  /**
   * Call before the caller is let go on. False if it cannot be traced, such as when it already is.
   * @param onStop called when its call has failed, before it runs on
   */
  attach(tid: number, item: Item, onStop?: OnStop): boolean {
    if (this.#calls.ptrace(PTRACE_SEIZE, tid, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL) !== 0) return false;
    // Takes effect when the call fails; a caller that waits for its answer is not interrupted.
    this.#calls.ptrace(PTRACE_INTERRUPT, tid, 0);
    this.#traced.set(tid, { item, onStop });
    return true;
  }

  /** Undefined if nothing has happened since. */
  next(): TracedEnd<Item> | undefined {
    while (this.#ended.length === 0 && this.count > 0) {
      const pid = this.#calls.wait(-1, this.#status, WNOHANG | WALL | WNOTHREAD);
      if (pid <= 0) break;
      this.#handle(pid, this.#status[0]!);
    }
    return this.#ended.shift();
  }

  /** The new program runs. */
  release(pid: number): void {
    this.#calls.ptrace(PTRACE_DETACH, pid, 0);
  }

  kill(pid: number): void {
    this.#dying.add(pid);
    this.#calls.kill(pid, SIGKILL);
  }

  #handle(pid: number, status: number): void {
    if ((status & 0xff) !== STOPPED) {
      this.#dying.delete(pid);
      this.#fail(pid);
      this.#onExit(pid, status);
    } else if (status >> 8 === (SIGTRAP | (PTRACE_EVENT_EXEC << 8))) {
      this.#start(pid);
    } else {
      const signal = status >> 16 === 0 ? (status >> 8) & 0xff : 0;
      const onStop = this.#traced.get(pid)?.onStop;
      if (onStop?.(signal) === "wait") return void this.#calls.ptrace(PTRACE_CONT, pid, 0);
      this.#calls.ptrace(PTRACE_DETACH, pid, onStop === undefined ? signal : 0);
      this.#fail(pid);
    }
  }

  /** A thread that is not the first of its process takes the id of the first, which is gone. */
  #start(pid: number): void {
    const known = this.#calls.ptrace(PTRACE_GETEVENTMSG, pid, this.#calls.addressOf(this.#message)) === 0;
    const former = known ? Number(this.#message[0]) : pid;
    const item = this.#traced.get(former)?.item;
    this.#traced.delete(former);
    this.#fail(pid);
    if (item === undefined) this.kill(pid);
    else this.#ended.push({ kind: "started", item, pid });
  }

  #fail(tid: number): void {
    const item = this.#traced.get(tid)?.item;
    if (item === undefined) return;
    this.#traced.delete(tid);
    this.#ended.push({ kind: "failed", item });
  }
}

/** sys/ptrace.h, sys/wait.h and signal.h of Linux. */
const PTRACE_CONT = 7;
const PTRACE_DETACH = 17;
const PTRACE_GETEVENTMSG = 0x4201;
const PTRACE_SEIZE = 0x4206;
const PTRACE_INTERRUPT = 0x4207;
const PTRACE_O_TRACEEXEC = 0x10;
const PTRACE_O_EXITKILL = 0x100000;
const PTRACE_EVENT_EXEC = 4;
const STOPPED = 0x7f;
const WNOHANG = 1;
const WNOTHREAD = 0x20000000;
const WALL = 0x40000000;
const SIGKILL = 9;
const SIGTRAP = 5;
