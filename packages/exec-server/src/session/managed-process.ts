import { RPC_INVALID_REQUEST, RpcError } from "@codex/channel";
import type {
  ExecProcess,
  OutputChunk,
  OutputLog,
  ProcessSignal,
  SandboxType,
  TerminateOptions,
  TerminationReceipt,
} from "@codex/exec-backend";
import { getExitCode, WriteError } from "@codex/exec-backend";
import type { NetworkPolicyDecision, NetworkPolicyRequest, WriteStatus } from "@codex/exec-server-protocol";
import type { OutputStream, ProcessOutcome } from "@codex/executor-protocol";
import {
  CATCH_UP_MS,
  DETACHED_WINDOW_BYTES,
  FOLLOW_WINDOW_BYTES,
  MAX_CHUNK_BYTES,
  MAX_READ_BYTES,
  MAX_REMEMBERED_WRITES,
  MAX_TIMER_MS,
  RETAINED_BYTES,
} from "../limits.js";

/** The events of a process, numbered from 1 without gaps across output, exit and close. */
export interface ProcessEvents {
  /** Awaited: a slow connection pauses the process. */
  onOutput(processId: string, seq: number, stream: OutputStream, bytes: Buffer): Promise<void>;
  onExited(processId: string, seq: number, exit: ExitFacts): Promise<void>;
  onClosed(processId: string, seq: number): Promise<void>;
  onNetworkDecision(decision: NetworkPolicyDecision): Promise<void>;
  /** Asks the client. Rejects where it does not answer. */
  askAboutNetwork(request: NetworkPolicyRequest, signal: AbortSignal): Promise<unknown>;
}

/** Callbacks to the session that owns a process. */
export interface ProcessOwner {
  /** Output was added to memory, bytes. */
  onOutputRetained(bytes: number): void;
  /** Its output is complete. */
  onClosed(process: ManagedProcess): void;
}

/** How a process ended, in the terms of the protocol. */
export interface ExitFacts {
  /** -1 when it is unknown. */
  exitCode: number;
  /** Whether a sandbox denial was detected. */
  sandboxDenied: boolean;
  /** Only for one that did not exit: a signal ended it, or its sandbox did not start it. An extension of the protocol of Codex. */
  outcome?: ProcessOutcome;
}

export interface ReadParams {
  /** Exclusive. */
  afterSeq: number;
  maxBytes: number | undefined;
}

export interface ReadResult {
  chunks: { seq: number; stream: OutputStream; bytes: Buffer }[];
  nextSeq: number;
  exited: boolean;
  exitCode: number | null;
  sandboxDenied: boolean;
  outcome?: ProcessOutcome;
  closed: boolean;
  /** If chunks between `afterSeq` and the first one here were evicted: the bytes of output before that one. */
  evictedBefore: number | undefined;
}

/**
 * One process of a session, in the numbering of the protocol. The output log numbers chunks only; here the exit has a
 * number as well, so the chunks after it are shifted by one.
 */
export class ManagedProcess {
  readonly id: string;
  readonly #process: ExecProcess;
  readonly #owner: ProcessOwner;
  /** Chunks of the log before the exit; undefined while it runs. */
  #chunksBeforeExit: number | undefined;
  #closed = false;
  /** Results of the latest writes by write id; a repeated id gets the first result. One in progress is never forgotten. */
  #writes: Map<string, RememberedWrite> | undefined;
  #detach: (() => void) | undefined;
  /** Settles with the delivery to the current connection; undefined while there is none. */
  #delivery: Promise<void> | undefined;
  /** Limits the process until a resumed client has read the output it missed. */
  #catchUp: { end(): void } | undefined;
  /** Offset up to which output was handed to a connection. */
  #delivered = 0;
  #exitedDelivered = false;
  #closedDelivered = false;
  /** Whether it closed while no connection was attached, and has not been read since. */
  #missed = false;
  #wakers: Set<() => void> | undefined;

  constructor(id: string, process: ExecProcess, owner: ProcessOwner) {
    this.id = id;
    this.#process = process;
    this.#owner = owner;
    void process.exited.then(() => {
      this.#chunksBeforeExit = process.log.lastSeq;
      this.#wake();
    });
    void process.closed.then(() => {
      this.#closed = true;
      this.#wake();
      this.#owner.onClosed(this);
    });
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  get sandboxType(): SandboxType | "none" {
    return this.#process.sandboxType ?? "none";
  }

  get running(): boolean {
    return this.#chunksBeforeExit === undefined;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Bytes of its output in memory; an upper bound where the log does not report them. */
  get heldBytes(): number {
    const { heldBytes, end } = this.#process.log;
    return heldBytes ?? Math.min(end, RETAINED_BYTES);
  }

  /** Retains less output; undelivered output is not dropped. */
  shrink(bytes: number): void {
    this.#process.log.shrink?.(bytes);
  }

  /** Whether every event was handed to a connection. */
  get isDelivered(): boolean {
    return this.#closedDelivered && !this.#missed;
  }

  get exitCode(): number | null {
    return this.exit?.exitCode ?? null;
  }

  /** Undefined while it runs. */
  get exit(): ExitFacts | undefined {
    if (this.running) return undefined;
    const { outcome } = this.#process;
    const exitCode = getExitCode(outcome) ?? -1;
    const sandboxDenied = this.#process.denial !== undefined;
    return { exitCode, sandboxDenied, ...(outcome.kind === "exited" ? {} : { outcome }) };
  }

  /** The number the next event will have. */
  get nextSeq(): number {
    return this.#process.log.lastSeq + 1 + (this.running ? 0 : 1) + (this.#closed ? 1 : 0);
  }

  /**
   * Delivers events to a connection until `detach`. Without `fromStart`, earlier events are skipped: the client gets them
   * with `read`, and until then the process may write only DETACHED_WINDOW_BYTES.
   */
  attach(events: ProcessEvents, { fromStart }: { fromStart: boolean }): void {
    this.detach();
    if (!fromStart) {
      if (!this.#closed) this.#holdForCatchUp();
      this.#delivered = this.#process.log.end;
      this.#exitedDelivered = !this.running;
      this.#missed ||= this.#closed && !this.#closedDelivered;
      this.#closedDelivered = this.#closed;
    }
    const abort = new AbortController();
    const former = this.#detach;
    const stop = () => abort.abort();
    this.#detach = stop;
    this.#delivery = this.#deliver(events, abort.signal).then(
      () => {
        if (this.#detach === stop) this.#detach = undefined;
      },
      () => {
        // The connection is gone: undelivered output is kept for the next one.
        if (!abort.signal.aborted) this.detach();
      },
    );
    former?.();
  }

  /** Stops delivery; the process is paused before output would be lost. Idempotent. */
  detach(): void {
    const former = this.#detach;
    const { log } = this.#process;
    const hold = log.complete ? undefined : log.hold(this.#delivered, DETACHED_WINDOW_BYTES);
    this.#detach = hold && (() => hold.release());
    former?.();
    this.#catchUp?.end();
  }

  /** Resolves when every event was handed to the current connection, or that has ended. Never rejects. */
  async delivered(): Promise<void> {
    await this.#delivery;
  }

  async read({ afterSeq, maxBytes }: ReadParams): Promise<ReadResult> {
    const { log } = this.#process;
    const logSeq = this.#toLogSeq(afterSeq);
    const wanted = await readWholeChunks(log, logSeq, Math.min(maxBytes ?? MAX_READ_BYTES, MAX_READ_BYTES));
    const chunks = wanted.map(({ seq, stream, bytes }) => ({ seq: this.#toSeq(seq), stream, bytes }));
    this.#catchUp?.end();
    const last = wanted.at(-1);
    const cut = maxBytes !== undefined || (last !== undefined && last.seq < log.lastSeq);
    if (!cut && this.#closed) this.#missed = false;
    return {
      chunks,
      nextSeq: cut && last !== undefined ? this.#toSeq(last.seq) + 1 : this.nextSeq,
      exited: !this.running,
      ...(this.exit ?? { exitCode: null, sandboxDenied: false }),
      closed: this.#closed,
      evictedBefore: wanted[0] !== undefined && wanted[0].seq > logSeq + 1 ? wanted[0].offset : undefined,
    };
  }

  write(writeId: string | undefined, bytes: Uint8Array): Promise<WriteStatus> {
    const known = writeId === undefined ? undefined : this.#writes?.get(writeId);
    if (known !== undefined) return known.status;
    if (writeId !== undefined && !this.#makeRoom()) {
      const text = `${MAX_REMEMBERED_WRITES} writes to the process are in progress (limit ${MAX_REMEMBERED_WRITES} writes)`;
      return Promise.reject(new RpcError(RPC_INVALID_REQUEST, `${text}; nothing was written`));
    }
    const status = this.#process.write(bytes).then(
      () => "accepted" as const,
      (error: unknown) => {
        if (error instanceof WriteError && error.code === "stdin_closed") return "stdinClosed" as const;
        // The program exited during the write, so its stdin is closed too.
        if (error instanceof WriteError && error.code === "exited") return "stdinClosed" as const;
        throw error;
      },
    );
    if (writeId !== undefined) this.#remember(writeId, status);
    return status;
  }

  closeStdin(): Promise<void> {
    return this.#process.closeStdin();
  }

  signal(name: ProcessSignal): Promise<boolean> {
    return this.#process.signal(name);
  }

  resize(size: { rows: number; cols: number }): Promise<void> {
    return this.#process.resize(size);
  }

  terminate(options: TerminateOptions): Promise<TerminationReceipt> {
    return this.#process.terminate(options);
  }

  /** Frees the output. Only for a process that has ended. */
  dispose(): void {
    this.#detach?.();
    this.#catchUp?.end();
    this.#process.dispose();
  }

  async #deliver(events: ProcessEvents, signal: AbortSignal): Promise<void> {
    const { log } = this.#process;
    let deliveredChunks = this.#delivered === log.end ? log.lastSeq : 0;
    const deliverExit = async () => {
      const before = this.#chunksBeforeExit;
      if (before === undefined || this.#exitedDelivered || deliveredChunks < before || signal.aborted) return;
      this.#exitedDelivered = true;
      await events.onExited(this.id, before + 1, this.exit ?? { exitCode: -1, sandboxDenied: false });
    };
    void this.#process.exited.then(deliverExit).catch(() => {});
    for await (const chunk of log.follow({ from: this.#delivered, windowBytes: FOLLOW_WINDOW_BYTES, signal })) {
      if (this.#chunksBeforeExit !== undefined && chunk.seq > this.#chunksBeforeExit) await deliverExit();
      if (signal.aborted) return;
      deliveredChunks = chunk.seq;
      this.#delivered = chunk.offset + chunk.bytes.length;
      this.#owner.onOutputRetained(chunk.bytes.length);
      const sent = events.onOutput(this.id, this.#toSeq(chunk.seq), chunk.stream, chunk.bytes);
      if (chunk.seq === this.#chunksBeforeExit) void deliverExit().catch(() => {}); // `sent` rejects as well
      await sent;
    }
    if (signal.aborted || this.#closedDelivered) return;
    await this.#process.exited;
    await deliverExit();
    this.#closedDelivered = true;
    await events.onClosed(this.id, log.lastSeq + 2);
  }

  /** Resolves at an event after `afterSeq`, once closed, after `waitMs`, or when `outer` aborts. */
  async waitForEvents(afterSeq: number, waitMs: number, outer: AbortSignal | undefined): Promise<void> {
    const { log } = this.#process;
    const abort = new AbortController();
    const stop = () => abort.abort();
    const timer = setTimeout(stop, Math.min(waitMs, MAX_TIMER_MS));
    outer?.addEventListener("abort", stop, { once: true });
    const hasEvents = () =>
      this.#closed || log.lastSeq > this.#toLogSeq(afterSeq) || (!this.running && afterSeq < this.nextSeq - 1);
    try {
      while (!hasEvents() && !abort.signal.aborted && outer?.aborted !== true) {
        await Promise.race([log.waitFor(log.end, abort.signal), this.#waitForChange(abort.signal)]);
      }
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener("abort", stop);
      abort.abort();
    }
  }

  #holdForCatchUp(): void {
    const hold = this.#process.log.hold(this.#process.log.end, DETACHED_WINDOW_BYTES);
    const end = () => {
      clearTimeout(timer);
      hold.release();
      this.#catchUp = undefined;
    };
    const timer = setTimeout(end, CATCH_UP_MS);
    timer.unref();
    this.#catchUp = { end };
  }

  /** Resolves at the exit, at the close, or when `signal` aborts. */
  #waitForChange(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#wakers?.delete(done);
        resolve();
      };
      this.#wakers ??= new Set();
      this.#wakers.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  #wake(): void {
    for (const waker of [...(this.#wakers ?? [])]) waker();
  }

  /** Forgets the oldest completed writes; false if all are in progress. */
  #makeRoom(): boolean {
    const writes = this.#writes;
    for (const [writeId, { isOver }] of writes ?? []) {
      if (writes!.size < MAX_REMEMBERED_WRITES) return true;
      if (isOver) writes!.delete(writeId);
    }
    return writes === undefined || writes.size < MAX_REMEMBERED_WRITES;
  }

  #remember(writeId: string, status: Promise<WriteStatus>): void {
    this.#writes ??= new Map();
    const writes = this.#writes;
    const write: RememberedWrite = { status, isOver: false };
    writes.set(writeId, write);
    status.then(
      () => {
        write.isOver = true;
      },
      // A write that failed for another reason may be retried under its id.
      () => writes.delete(writeId),
    );
  }

  #toSeq(logSeq: number): number {
    return this.#chunksBeforeExit !== undefined && logSeq > this.#chunksBeforeExit ? logSeq + 1 : logSeq;
  }

  #toLogSeq(seq: number): number {
    return this.#chunksBeforeExit !== undefined && seq > this.#chunksBeforeExit ? seq - 1 : seq;
  }
}

interface RememberedWrite {
  status: Promise<WriteStatus>;
  isOver: boolean;
}

/** Whole retained chunks after number `seq`: the first one always, further ones while their sum stays within `maxBytes`. */
async function readWholeChunks(log: OutputLog, seq: number, maxBytes: number): Promise<OutputChunk[]> {
  const { end } = log;
  const after = log.offsetAfter(seq);
  // What was evicted takes nothing from `maxBytes`.
  const evicted = log.getEvicted(after, end).find(({ from }) => from === after);
  const from = evicted?.to ?? after;
  const to = Math.min(end, from + maxBytes + MAX_CHUNK_BYTES);
  const { chunks } = await log.read(from, to);
  let bytes = 0;
  const count = chunks.findIndex((chunk, index) => {
    bytes += chunk.bytes.length;
    const cut = chunk.offset + chunk.bytes.length === to && to < end;
    return index > 0 && (bytes > maxBytes || cut);
  });
  return count === -1 ? chunks : chunks.slice(0, count);
}
