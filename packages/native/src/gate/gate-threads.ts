import { closeSync, writeSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { lastErrno } from "../libc/koffi.js";
import type { Libc } from "../libc/libc.js";
import { spawnLock } from "../process/spawn-lock.js";
import { GateError } from "./gate-error.js";
import type { FromStarter, FromSupervisor, StarterData, ThreadData, ToStarter, ToSupervisor } from "./messages.js";
import { THREAD_CODE } from "./thread-code.js";

/** Programs whose start a gate has seen. */
export interface GateCounts {
  judged: number;
  /** Compared with what was judged, after they had started and before they ran. */
  verified: number;
}

export interface GateEvents {
  onStarter(message: Extract<FromStarter, { id: number }>): void;
  onSupervisor(message: Exclude<FromSupervisor, { type: "closed" }>): void;
  /** Called once, if a thread ends before it is closed: programs that wait are not started, nor are any others. */
  onFailed(error: GateError): void;
}

/** Heap of each thread, MiB. */
const THREAD_HEAP_MIB = 64;

const O_CLOEXEC = 0o2000000;
const WAKE = Buffer.from([1]);

/** Where this code is, for the native code that its threads load. */
const HERE = typeof __filename === "string" ? __filename : import.meta.url;

/** The two threads of a gate. */
export class GateThreads {
  /** Resolves once programs can be started; whether signals leave callers alone that wait. Rejects with a `GateError`. */
  readonly listening: Promise<boolean>;
  readonly #events: GateEvents;
  readonly #starter: Worker;
  /** Started with the first program that it is to start. */
  #freeStarter: Worker | undefined;
  readonly #shared: Omit<StarterData, "role" | "judges">;
  readonly #supervisor: Worker;
  readonly #waking = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  readonly #wake: { read: number; write: number };
  readonly #ended: Promise<unknown>;
  readonly #onProcessExit = () => this.#endSupervisor();
  #counts: GateCounts = { judged: 0, verified: 0 };
  /** The end of the filter, as long as the supervisor has not closed it. */
  #listener: number | undefined;
  #isOver = false;

  /** @throws {GateError} */
  constructor(libc: Libc, events: GateEvents) {
    this.#events = events;
    this.#wake = openPipe(libc);
    const starting = new SharedArrayBuffer(BigUint64Array.BYTES_PER_ELEMENT);
    const shared = { base: HERE, lock: spawnLock.shared, starting };
    this.#shared = shared;
    this.#starter = startThread({ ...shared, role: "starter", judges: true });
    const waking = this.#waking.buffer as SharedArrayBuffer;
    this.#supervisor = startThread({ ...shared, role: "supervisor", wake: this.#wake.read, waking });
    const threads = [this.#starter, this.#supervisor];
    this.#ended = Promise.all(threads.map((thread) => new Promise((resolve) => thread.once("exit", resolve))));
    this.listening = new Promise((resolve, reject) => {
      this.#starter.on("message", (message: FromStarter) => {
        if (message.type === "listening") resolve(this.#listen(message));
        else if ("id" in message) events.onStarter(message);
        else if (message.type === "failed") this.#fail(new GateError(message.missing, message.reason), reject);
      });
      for (const thread of threads) {
        thread.on("error", ({ message }) => this.#fail(new GateError("worker_threads", message), reject));
        thread.on("exit", () => this.#fail(new GateError("worker_threads", "a thread of it has ended"), reject));
      }
    });
    this.listening.catch(() => {});
    this.#supervisor.on("message", (message: FromSupervisor) => {
      if (message.type === "closed") this.#counts = { judged: message.judged, verified: message.verified };
      else events.onSupervisor(message);
    });
    // Otherwise Node would wait for the supervisor, which waits for programs.
    process.on("exit", this.#onProcessExit);
  }

  toStarter(message: ToStarter): void {
    this.#starter.postMessage(message);
  }

  /** To a thread whose programs are not judged. */
  toFreeStarter(message: ToStarter): void {
    this.#freeStarter ??= this.#openFreeStarter();
    this.#freeStarter.postMessage(message);
  }

  #openFreeStarter(): Worker {
    // Its mark is of no concern to the supervisor.
    const starting = new SharedArrayBuffer(BigUint64Array.BYTES_PER_ELEMENT);
    const thread = startThread({ ...this.#shared, starting, role: "starter", judges: false });
    thread.on("message", (message: FromStarter) => {
      if ("id" in message) this.#events.onStarter(message);
    });
    thread.on("error", ({ message }) => this.#fail(new GateError("worker_threads", message), () => {}));
    thread.unref();
    return thread;
  }

  toSupervisor(message: ToSupervisor): void {
    this.#supervisor.postMessage(message);
    if (Atomics.exchange(this.#waking, 0, 1) === 0) writeSync(this.#wake.write, WAKE);
  }

  /** Whether this process stays alive for them. */
  keepAlive(isBusy: boolean): void {
    for (const thread of [this.#starter, this.#supervisor]) isBusy ? thread.ref() : thread.unref();
  }

  /** Call once. */
  async close(): Promise<GateCounts> {
    this.#isOver = true;
    this.keepAlive(true);
    process.off("exit", this.#onProcessExit);
    this.#endSupervisor();
    this.toStarter({ type: "close" });
    const free = this.#freeStarter;
    if (free !== undefined) {
      free.ref();
      const ended = new Promise((resolve) => free.once("exit", resolve));
      free.postMessage({ type: "close" } satisfies ToStarter);
      await ended;
    }
    await this.#ended;
    closeSync(this.#wake.read);
    closeSync(this.#wake.write);
    return this.#counts;
  }

  #listen({ fd, waitsKillable }: Extract<FromStarter, { type: "listening" }>): boolean {
    this.#listener = fd;
    this.toSupervisor({ type: "listen", fd });
    return waitsKillable;
  }

  #endSupervisor(): void {
    this.#listener = undefined;
    this.toSupervisor({ type: "close" });
  }

  #fail(error: GateError, onFailed: (error: GateError) => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#listener !== undefined) closeSync(this.#listener);
    this.#listener = undefined;
    onFailed(error);
    this.#events.onFailed(error);
  }
}

function openPipe(libc: Libc): { read: number; write: number } {
  const ends = new Int32Array(2);
  if (libc.pipe2(ends, O_CLOEXEC) !== 0) throw new GateError("pipe2", `errno ${lastErrno()}`);
  return { read: ends[0]!, write: ends[1]! };
}

/** Without the settings of this process, such as its loaders. */
function startThread(data: ThreadData): Worker {
  const options = {
    workerData: data,
    execArgv: [],
    env: {},
    trackUnmanagedFds: false,
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MIB },
  };
  const worker =
    "code" in THREAD_CODE
      ? new Worker(THREAD_CODE.code, { ...options, eval: true })
      : new Worker(THREAD_CODE.file, options);
  return worker;
}
