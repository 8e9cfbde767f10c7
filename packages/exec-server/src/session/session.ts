import { RPC_INVALID_REQUEST, RpcError } from "@codex/channel";
import type { ExecBackend, ProcessSpec, TerminationReceipt } from "@codex/exec-backend";
import type { NetworkPolicyDecision, NetworkPolicyRequest } from "@codex/exec-server-protocol";
import { ENDED_RETENTION_MS, MAX_ENDED_PROCESSES, MAX_EVICTED_IDS, MAX_LIVE_PROCESSES } from "../limits.js";
import { EvictedIds } from "./evicted-ids.js";
import { ManagedProcess, type ProcessEvents, type ProcessOwner } from "./managed-process.js";
import type { RetainingSession, Retention } from "./retention.js";

/** Options and collaborators of a session. */
export interface SessionOptions {
  id: string;
  backend: ExecBackend;
  /** Milliseconds an ended process stays readable after its output was complete. */
  endedRetentionMs?: number;
  /** Ended processes that stay readable. */
  maxEnded?: number;
  /** Bounds the retained output; without it, only the output of each process is bounded. */
  retention?: Retention;
}

/**
 * What would be lost with a session: processes that run or whose events are not all delivered (`unfinished`), output that
 * was delivered and could be read again (`delivered`), or nothing (`empty`).
 */
export type SessionContent = "unfinished" | "delivered" | "empty";

/**
 * The state that survives a lost connection: the processes of one client, their output, and the ids of accepted writes.
 * At most one connection is attached; it gets every event from then on.
 */
export class Session implements RetainingSession {
  readonly id: string;
  /** Whether the client requested `outcome` members, which distinguish signals from exit codes. */
  reportsOutcomes = false;
  readonly #backend: ExecBackend;
  readonly #endedRetentionMs: number;
  readonly #maxEnded: number;
  readonly #retention: Retention | undefined;
  /** By id, which is in use as soon as a start is requested. */
  readonly #processes = new Map<string, ManagedProcess | StartingProcess>();
  /** Closed processes in order, with the time to evict them: ms of `performance.now()`. */
  readonly #ended = new Map<string, number>();
  /** Ids of processes that were evicted early. */
  readonly #evicted: EvictedIds;
  /** Runs while there are closed processes. */
  #evictionTimer: NodeJS.Timeout | undefined;
  /** Started, but the response to the start is not sent yet. */
  readonly #unannounced = new Set<ManagedProcess>();
  #events: ProcessEvents | undefined;
  #closed = false;
  #draining = false;

  constructor(options: SessionOptions) {
    const { id, backend, endedRetentionMs = ENDED_RETENTION_MS, maxEnded = MAX_ENDED_PROCESSES } = options;
    this.id = id;
    this.#backend = backend;
    this.#endedRetentionMs = endedRetentionMs;
    this.#maxEnded = maxEnded;
    this.#retention = options.retention;
    this.#retention?.add(this);
    this.#evicted = new EvictedIds(endedRetentionMs);
  }

  get content(): SessionContent {
    if (this.#processes.size === 0) return "empty";
    if (this.#processes.size > this.#ended.size) return "unfinished";
    return this.list().every(({ isDelivered }) => isDelivered) ? "delivered" : "unfinished";
  }

  /** Delivers events to a connection from now on. Earlier ones it reads with `process/read`. Idempotent. */
  attach(events: ProcessEvents): void {
    if (this.#events === events) return;
    this.#events = events;
    this.#unannounced.clear();
    for (const process of this.list()) process.attach(events, { fromStart: false });
  }

  /** Processes keep running, and are paused before any of their output would be lost. */
  detach(): void {
    this.#events = undefined;
    for (const process of this.list()) process.detach();
  }

  /**
   * Starts a process. Its events are held until `announce`, so that none precedes the response to the start.
   * @throws RpcError -32600 when the id is in use, StartError when nothing was started
   */
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
      const managed = new ManagedProcess(processId, process, this.#owner);
      this.#processes.set(processId, managed);
      this.#unannounced.add(managed);
      managed.detach();
      for (const settle of starting.waiting) settle(managed);
      return managed;
    } catch (error) {
      // The id of a failed start can be reused immediately.
      if (this.#processes.get(processId) === starting) this.#processes.delete(processId);
      for (const settle of starting.waiting) settle(undefined);
      throw error;
    }
  }

  /** Rejects without a connection, and where the client does not answer. */
  async askAboutNetwork(request: NetworkPolicyRequest, signal: AbortSignal): Promise<unknown> {
    if (this.#events === undefined) throw new Error("there is no connection to the client");
    return this.#events.askAboutNetwork(request, signal);
  }

  /** Without a connection nobody is told. */
  tellNetworkDecision(decision: NetworkPolicyDecision): void {
    this.#events?.onNetworkDecision(decision).catch(() => {});
  }

  /** Called when the response to the start was sent: delivers the events of the process, from the first one on. */
  announce(process: ManagedProcess): void {
    if (this.#unannounced.delete(process) && this.#events !== undefined) {
      process.attach(this.#events, { fromStart: true });
    }
  }

  /**
   * Calls `work` with a process, or with undefined for an unknown id: immediately, or once a pending start has settled.
   * Calls for one id run in order.
   */
  use<T>(processId: string, work: (process: ManagedProcess | undefined) => T): T | Promise<Awaited<T>> {
    const found = this.#processes.get(processId);
    if (found === undefined || found instanceof ManagedProcess) return work(found);
    return new Promise((resolve, reject) => {
      found.waiting.push((process) => {
        try {
          // `resolve` also accepts a promise of the value, which the type of its parameter does not express for a generic type.
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
   * Ends a process with everything it started, or cancels its start. Without `graceMs` it does not wait for the end, and
   * `over` means that the process itself had exited before. Undefined when there was nothing to do: for an unknown id, and
   * without `graceMs` for a process that has closed. Codex's client terminates every process in the end; a daemon that a
   * command left behind survives that, as it does with Codex, until this host ends.
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

  /** Codex needs no receipt: the group is killed, and strays that left it are searched for after the response. */
  async #kill(process: ManagedProcess): Promise<"killed" | "over" | undefined> {
    if (process.closed) return undefined;
    const { running } = process;
    await process.signal("SIGKILL");
    setImmediate(() => void process.terminate({ graceMs: 0 }).catch(() => {}));
    return running ? "killed" : "over";
  }

  /**
   * Ends every process with its group while its events are delivered; nothing more is started. Resolves when the connection has got all
   * events, or has ended. Never rejects.
   */
  async drain(graceMs: number): Promise<void> {
    this.#draining = true;
    for (const process of this.#processes.values()) if (!(process instanceof ManagedProcess)) process.cancelled = true;
    const end = async (process: ManagedProcess) => {
      await process.terminate({ by: "shutdown", graceMs }).catch(() => {}); // its end is unknown, and so told by nothing
      await process.delivered();
    };
    await Promise.all(this.list().map(end));
  }

  /** Processes that run, or are being started. */
  get runningCount(): number {
    return this.#processes.size - this.#ended.size;
  }

  /** From now on it starts nothing; what runs goes on. */
  refuseStarts(): void {
    this.#draining = true;
  }

  /** Ends every process with its group. Idempotent. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#events = undefined;
    clearTimeout(this.#evictionTimer);
    this.#evicted.close();
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
    if (this.#draining) {
      const text = `process ${processId} was not started: the exec-server is shutting down`;
      throw new RpcError(RPC_INVALID_REQUEST, text);
    }
    if (this.#processes.has(processId) || this.#evicted.has(processId)) {
      throw new RpcError(RPC_INVALID_REQUEST, `process ${processId} already exists`);
    }
    if (this.#evicted.isFull) {
      const limit = `the limit of ${MAX_EVICTED_IDS} ids of ended processes is reached`;
      throw new RpcError(RPC_INVALID_REQUEST, `process ${processId} was not started: ${limit}; try again later`);
    }
    const live = this.#processes.size - Math.min(this.#ended.size, this.#maxEnded);
    if (live >= MAX_LIVE_PROCESSES) {
      const limit = `the limit of ${MAX_LIVE_PROCESSES} live processes in a session is reached`;
      throw new RpcError(RPC_INVALID_REQUEST, `process ${processId} was not started: ${limit}`);
    }
  }

  readonly #owner: ProcessOwner = {
    onOutputRetained: (bytes) => this.#retention?.recordGrowth(this, bytes),
    onClosed: (process) => this.#retire(process),
  };

  evict(bytes: number): number {
    let freed = 0;
    for (const process of this.#delivered()) {
      if (freed >= bytes) break;
      const { heldBytes } = process;
      if (heldBytes === 0) continue;
      freed += heldBytes;
      this.#evictEarly(process.id);
    }
    return freed;
  }

  /** Closed processes whose events are all delivered, the oldest first: only these may be evicted early. */
  *#delivered(): Generator<ManagedProcess> {
    for (const processId of this.#ended.keys()) {
      const process = this.#processes.get(processId);
      if (process instanceof ManagedProcess && process.isDelivered) yield process;
    }
  }

  /** Called when the output of a process is complete: it stays readable for `endedRetentionMs`. */
  #retire(process: ManagedProcess): void {
    if (this.#closed) return;
    this.#ended.set(process.id, performance.now() + this.#endedRetentionMs);
    this.#evictionTimer ??= this.#evictIn(this.#endedRetentionMs);
    if (this.#ended.size > this.#maxEnded) {
      const [oldest] = this.#delivered();
      if (oldest !== undefined) this.#evictEarly(oldest.id);
    }
  }

  /** One timer for all: processes are evicted in the order they closed. */
  #evictIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      const now = performance.now();
      for (const [processId, at] of this.#ended) {
        if (at > now) break;
        this.#evict(processId);
      }
      const [next] = this.#ended.values();
      this.#evictionTimer = next === undefined ? undefined : this.#evictIn(next - now);
    }, ms).unref();
  }

  /** Remembers the id, so that a repeated start does not run the program again. */
  #evictEarly(processId: string): void {
    this.#evicted.add(processId);
    this.#evict(processId);
  }

  #evict(processId: string): void {
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
  /** Called when the start has settled, with undefined if it failed. */
  waiting: ((process: ManagedProcess | undefined) => void)[];
}
