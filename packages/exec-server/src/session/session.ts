import { RPC_INVALID_REQUEST, RpcError } from "@codex/channel";
import type { ExecBackend, ProcessSpec, TerminationReceipt } from "@codex/exec-backend";
import { ENDED_RETENTION_MS, MAX_ENDED_PROCESSES, MAX_FORGOTTEN_IDS, MAX_LIVE_PROCESSES } from "../limits.js";
import { ForgottenIds } from "./forgotten-ids.js";
import { ManagedProcess, type ProcessEvents, type ProcessKeeper } from "./managed-process.js";
import type { Retaining, Retention } from "./retention.js";

export interface SessionOptions {
  id: string;
  backend: ExecBackend;
  /** Milliseconds an ended process stays readable after its output was complete. */
  endedRetentionMs?: number;
  /** Ended processes that stay readable. */
  maxEnded?: number;
  /** Bounds what is kept of output; without, only each process is bounded. */
  retention?: Retention;
}

/**
 * What is lost with a session that nobody resumes: processes that are not over or were not told of to the end (`work`),
 * what can be read again of those that were (`told`), or `nothing`.
 */
export type SessionStake = "work" | "told" | "nothing";

/**
 * What survives a broken connection: the processes of one client, what they wrote, and which writes were taken.
 * At most one connection is attached; it is told everything that happens from then on.
 */
export class Session implements Retaining {
  readonly id: string;
  /** Its client asked to be told of signals as such. */
  tellsOutcomes = false;
  readonly #backend: ExecBackend;
  readonly #endedRetentionMs: number;
  readonly #maxEnded: number;
  readonly #retention: Retention | undefined;
  /** `starting`: the id is taken and the process is on its way. */
  readonly #processes = new Map<string, ManagedProcess | StartingProcess>();
  /** Ended ones in the order they closed, with the moment to forget them: ms of `performance.now()`. */
  readonly #ended = new Map<string, number>();
  /** Those of which no more is known than that they were started. */
  readonly #forgotten: ForgottenIds;
  /** Runs while one has ended. */
  #forgetting: NodeJS.Timeout | undefined;
  /** Started, and the answer that says so not sent. */
  readonly #unannounced = new Set<ManagedProcess>();
  #events: ProcessEvents | undefined;
  #closed = false;

  constructor(options: SessionOptions) {
    const { id, backend, endedRetentionMs = ENDED_RETENTION_MS, maxEnded = MAX_ENDED_PROCESSES } = options;
    this.id = id;
    this.#backend = backend;
    this.#endedRetentionMs = endedRetentionMs;
    this.#maxEnded = maxEnded;
    this.#retention = options.retention;
    this.#retention?.add(this);
    this.#forgotten = new ForgottenIds(endedRetentionMs);
  }

  get stake(): SessionStake {
    if (this.#processes.size === 0) return "nothing";
    if (this.#processes.size > this.#ended.size) return "work";
    return this.list().every(({ wasTold }) => wasTold) ? "told" : "work";
  }

  /** Tells a connection everything from now on. What it missed it reads. Idempotent. */
  attach(events: ProcessEvents): void {
    if (this.#events === events) return;
    this.#events = events;
    this.#unannounced.clear();
    for (const process of this.list()) process.attach(events, { fromStart: false });
  }

  /** The processes run on; before any of their output would be lost they are held back. */
  detach(): void {
    this.#events = undefined;
    for (const process of this.list()) process.detach();
  }

  /**
   * Its events wait for `announce`: they must not come before the answer to the start.
   * @throws RpcError -32600 when the id is in use, StartError when nothing was started */
  async start(processId: string, spec: ProcessSpec | Promise<ProcessSpec>): Promise<ManagedProcess> {
    this.#checkRoom(processId);
    const starting: StartingProcess = { cancelled: false, waiting: [] };
    this.#processes.set(processId, starting);
    try {
      const process = await this.#backend.start(spec instanceof Promise ? await spec : spec);
      if (starting.cancelled || this.#closed) {
        await process.terminate({ graceMs: 0 });
        process.dispose();
        throw new RpcError(RPC_INVALID_REQUEST, `process ${processId} start was cancelled`);
      }
      const managed = new ManagedProcess(processId, process, this.#keeper);
      this.#processes.set(processId, managed);
      this.#unannounced.add(managed);
      managed.detach();
      for (const go of starting.waiting) go(managed);
      return managed;
    } catch (error) {
      // A failed id can be used again at once.
      if (this.#processes.get(processId) === starting) this.#processes.delete(processId);
      for (const go of starting.waiting) go(undefined);
      throw error;
    }
  }

  /** The start was answered: its events go to the connection, from the first one on. */
  announce(process: ManagedProcess): void {
    if (this.#unannounced.delete(process) && this.#events !== undefined) {
      process.attach(this.#events, { fromStart: true });
    }
  }

  /**
   * Runs `work` with a process, or with undefined for an unknown id: at once, or as soon as the process has started or
   * failed to. In the order of the calls.
   */
  use<T>(processId: string, work: (process: ManagedProcess | undefined) => T): T | Promise<Awaited<T>> {
    const found = this.#processes.get(processId);
    if (found === undefined || found instanceof ManagedProcess) return work(found);
    return new Promise((resolve, reject) => {
      found.waiting.push((process) => {
        try {
          // `resolve` takes a promise for its value; the type of its parameter does not say so for a generic one.
          resolve(work(process) as Awaited<T>);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  list(): ManagedProcess[] {
    return [...this.#processes.values()].filter((process) => process instanceof ManagedProcess);
  }

  /**
   * Ends a process with everything it started, or cancels its start. Without a grace it does not wait for the end: `over`
   * says that the process itself had ended before. Undefined when there was nothing to do: for an
   * unknown id, and without a grace for a process that has closed. Codex says that after each one; a server that a
   * command left running on purpose then lives on, as it does with Codex, until this host ends.
   */
  async terminate(
    processId: string,
    graceMs: number | undefined,
  ): Promise<TerminationReceipt | "cancelled" | "killed" | "over" | undefined> {
    const found = this.#processes.get(processId);
    if (found === undefined) return undefined;
    if (found instanceof ManagedProcess) {
      return graceMs === undefined ? this.#kill(found) : found.terminate({ graceMs });
    }
    found.cancelled = true;
    return "cancelled";
  }

  /** Codex asks for no receipt: the group is killed at once, and what left it is looked for behind the answer. */
  async #kill(process: ManagedProcess): Promise<"killed" | "over" | undefined> {
    if (process.closed) return undefined;
    const { running } = process;
    await process.signal("SIGKILL");
    setImmediate(() => void process.terminate({ graceMs: 0 }).catch(() => {}));
    return running ? "killed" : "over";
  }

  /** Ends every process with its group. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#events = undefined;
    clearTimeout(this.#forgetting);
    this.#forgotten.close();
    this.#retention?.delete(this);
    this.#ended.clear();
    const processes = this.list();
    for (const process of processes) process.detach();
    await Promise.all(processes.map((process) => process.terminate({ by: "shutdown", graceMs: 0 })));
    for (const process of processes) process.dispose();
    this.#processes.clear();
  }

  #checkRoom(processId: string): void {
    if (this.#closed) throw new RpcError(RPC_INVALID_REQUEST, `session ${this.id} has ended`);
    if (this.#processes.has(processId) || this.#forgotten.has(processId)) {
      throw new RpcError(RPC_INVALID_REQUEST, `process ${processId} already exists`);
    }
    if (this.#forgotten.isFull) {
      const limit = `the limit of ${MAX_FORGOTTEN_IDS} ids of ended processes is reached`;
      throw new RpcError(RPC_INVALID_REQUEST, `process ${processId} was not started: ${limit}; try again later`);
    }
    const live = this.#processes.size - Math.min(this.#ended.size, this.#maxEnded);
    if (live >= MAX_LIVE_PROCESSES) {
      const limit = `the limit of ${MAX_LIVE_PROCESSES} live processes in a session is reached`;
      throw new RpcError(RPC_INVALID_REQUEST, `process ${processId} was not started: ${limit}`);
    }
  }

  readonly #keeper: ProcessKeeper = {
    onGrown: (bytes) => this.#retention?.grew(this, bytes),
    onClosed: (process) => this.#retire(process),
  };

  forgetOldest(): number {
    const oldest = this.#findTold(({ heldBytes }) => heldBytes > 0);
    const freed = oldest?.heldBytes ?? 0;
    if (oldest !== undefined) this.#forgetEarly(oldest.id);
    return freed;
  }

  /** Who was not told how a process ended must be told before it is forgotten. */
  #findTold(fits: (process: ManagedProcess) => boolean = () => true): ManagedProcess | undefined {
    for (const processId of this.#ended.keys()) {
      const process = this.#processes.get(processId);
      if (process instanceof ManagedProcess && process.wasTold && fits(process)) return process;
    }
    return undefined;
  }

  /** Its output is complete: it stays readable for a while. */
  #retire(process: ManagedProcess): void {
    if (this.#closed) return;
    this.#ended.set(process.id, performance.now() + this.#endedRetentionMs);
    this.#forgetting ??= this.#forgetIn(this.#endedRetentionMs);
    if (this.#ended.size > this.#maxEnded) {
      const oldest = this.#findTold();
      if (oldest !== undefined) this.#forgetEarly(oldest.id);
    }
  }

  /** One timer for all: they are forgotten in the order they closed. */
  #forgetIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const now = performance.now();
      for (const [processId, at] of this.#ended) {
        if (at > now) break;
        this.#forget(processId);
      }
      const [next] = this.#ended.values();
      this.#forgetting = next === undefined ? undefined : this.#forgetIn(next - now);
    }, ms).unref();
  }

  /** A start that is sent again must not start it again. */
  #forgetEarly(processId: string): void {
    this.#forgotten.add(processId);
    this.#forget(processId);
  }

  #forget(processId: string): void {
    this.#ended.delete(processId);
    const process = this.#processes.get(processId);
    this.#processes.delete(processId);
    if (!(process instanceof ManagedProcess)) return;
    this.#unannounced.delete(process);
    process.dispose();
  }
}

interface StartingProcess {
  cancelled: boolean;
  /** Told when the start is over, with undefined when it failed. */
  waiting: ((process: ManagedProcess | undefined) => void)[];
}
