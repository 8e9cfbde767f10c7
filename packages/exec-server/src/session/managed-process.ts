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
import type { OutputStream, ProcessOutcome } from "@codex/executor-protocol";
import {
  AWAY_WINDOW_BYTES,
  CATCH_UP_MS,
  FOLLOW_WINDOW_BYTES,
  MAX_CHUNK_BYTES,
  MAX_READ_BYTES,
  MAX_REMEMBERED_WRITES,
  RETAINED_BYTES,
} from "../limits.js";

/** What a process did, numbered from 1 without gaps over output, exit and close. */
export interface ProcessEvents {
  /** Awaited: a slow reader holds the process back. */
  onOutput(processId: string, seq: number, stream: OutputStream, bytes: Buffer): Promise<void>;
  onExited(processId: string, seq: number, exit: ExitFacts): Promise<void>;
  onClosed(processId: string, seq: number): Promise<void>;
}

/** What a process tells the session that keeps it. */
export interface ProcessKeeper {
  /** More of its output is in memory, bytes. */
  onGrown(bytes: number): void;
  /** Its output is complete. */
  onClosed(process: ManagedProcess): void;
}

/** How a process ended, as the protocol tells it. */
export interface ExitFacts {
  /** -1 when the host could not tell. */
  exitCode: number;
  /** Its sandbox refused something, as far as that is known. */
  sandboxDenied: boolean;
  /** Only where the code does not say it all: a signal ended the process. Codex knows no such member. */
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
  /** Chunks between `afterSeq` and the first one here left memory and are gone. */
  truncated: boolean;
}

export type WriteStatus = "accepted" | "unknownProcess" | "stdinClosed" | "starting";

/**
 * One process of a session as the protocol shows it. The output log numbers chunks; the exit takes a number among
 * them, so chunks that came after it are one further here.
 */
export class ManagedProcess {
  readonly id: string;
  readonly #process: ExecProcess;
  readonly #keeper: ProcessKeeper;
  /** Chunks of the log before the exit; undefined while it runs. */
  #chunksBeforeExit: number | undefined;
  #closed = false;
  /** Answers of the last writes by their ids; a repeat gets the first answer. */
  #writes: Map<string, Promise<WriteStatus>> | undefined;
  #detach: (() => void) | undefined;
  /** Holds the process back until a client that was away has read what it missed. */
  #catchUp: { end(): void } | undefined;
  /** Offset up to which events were handed to a connection. */
  #delivered = 0;
  #exitedDelivered = false;
  #closedDelivered = false;
  /** It closed while nobody was attached, and that was not read. */
  #missed = false;
  #wakers: Set<() => void> | undefined;

  constructor(id: string, process: ExecProcess, keeper: ProcessKeeper) {
    this.id = id;
    this.#process = process;
    this.#keeper = keeper;
    void process.exited.then(() => {
      this.#chunksBeforeExit = process.log.lastSeq;
      this.#wake();
    });
    void process.closed.then(() => {
      this.#closed = true;
      this.#wake();
      this.#keeper.onClosed(this);
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

  /** Bytes of its output in memory; at most, where that is not known. */
  get heldBytes(): number {
    const { heldBytes, end } = this.#process.log;
    return heldBytes ?? Math.min(end, RETAINED_BYTES);
  }

  /** Keeps less output to read again; what no connection was handed is not touched. */
  shrink(bytes: number): void {
    this.#process.log.shrink?.(bytes);
  }

  /** Everything that happened was handed to a connection. */
  get wasTold(): boolean {
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
    return { exitCode, sandboxDenied, ...(outcome.kind === "signaled" ? { outcome } : {}) };
  }

  /** The number the next event will have. */
  get nextSeq(): number {
    return this.#process.log.lastSeq + 1 + (this.running ? 0 : 1) + (this.#closed ? 1 : 0);
  }

  /**
   * Hands every event from now on to a connection, until `detach`. What happened while nobody was attached is not
   * told again: it is read with `read`, and until that has happened the process is held back.
   */
  attach(events: ProcessEvents, { fromStart }: { fromStart: boolean }): void {
    this.detach();
    if (!fromStart) {
      if (!this.#closed) this.#holdForReader();
      this.#delivered = this.#process.log.end;
      this.#exitedDelivered = !this.running;
      this.#missed ||= this.#closed && !this.#closedDelivered;
      this.#closedDelivered = this.#closed;
    }
    const abort = new AbortController();
    const former = this.#detach;
    const stop = () => abort.abort();
    this.#detach = stop;
    void this.#deliver(events, abort.signal).then(
      () => {
        if (this.#detach === stop) this.#detach = undefined;
      },
      () => {
        // The connection is gone: what it did not get is kept for the next one.
        if (!abort.signal.aborted) this.detach();
      },
    );
    former?.();
  }

  /** Nobody listens: the process is held back before anything is lost. Idempotent. */
  detach(): void {
    const former = this.#detach;
    const { log } = this.#process;
    const hold = log.complete ? undefined : log.hold(this.#delivered, AWAY_WINDOW_BYTES);
    this.#detach = hold && (() => hold.release());
    former?.();
    this.#catchUp?.end();
  }

  async read({ afterSeq, maxBytes }: ReadParams): Promise<ReadResult> {
    const { log } = this.#process;
    const logSeq = this.#toLogSeq(afterSeq);
    const wanted = await readWholeChunks(
      log,
      log.offsetAfter(logSeq),
      Math.min(maxBytes ?? MAX_READ_BYTES, MAX_READ_BYTES),
    );
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
      truncated: wanted[0] !== undefined && wanted[0].seq > logSeq + 1,
    };
  }

  write(writeId: string | undefined, bytes: Uint8Array): Promise<WriteStatus> {
    const known = writeId === undefined ? undefined : this.#writes?.get(writeId);
    if (known !== undefined) return known;
    const status = this.#process.write(bytes).then(
      () => "accepted" as const,
      (error: unknown) => {
        if (error instanceof WriteError && error.code === "stdin_closed") return "stdinClosed" as const;
        // Accepted by the program that has ended meanwhile, as far as anybody can tell.
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

  /** Frees what is kept for reading. Only for one that has ended. */
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
      this.#keeper.onGrown(chunk.bytes.length);
      const sent = events.onOutput(this.id, this.#toSeq(chunk.seq), chunk.stream, chunk.bytes);
      if (chunk.seq === this.#chunksBeforeExit) void deliverExit().catch(() => {}); // told by `sent` as well
      await sent;
    }
    if (signal.aborted || this.#closedDelivered) return;
    await this.#process.exited;
    await deliverExit();
    this.#closedDelivered = true;
    await events.onClosed(this.id, log.lastSeq + 2);
  }

  /** Resolves at output after `afterSeq`, an exit that was not seen, the end, after the time, or when `outer` aborts. */
  async waitForNews(afterSeq: number, waitMs: number, outer: AbortSignal | undefined): Promise<void> {
    const { log } = this.#process;
    const abort = new AbortController();
    const stop = () => abort.abort();
    const timer = setTimeout(stop, Math.min(waitMs, MAX_TIMER_MS));
    outer?.addEventListener("abort", stop, { once: true });
    const hasNews = () =>
      this.#closed || log.lastSeq > this.#toLogSeq(afterSeq) || (!this.running && afterSeq < this.nextSeq - 1);
    try {
      while (!hasNews() && !abort.signal.aborted && outer?.aborted !== true) {
        await Promise.race([log.waitFor(log.end, abort.signal), this.#woken(abort.signal)]);
      }
    } finally {
      clearTimeout(timer);
      outer?.removeEventListener("abort", stop);
      abort.abort();
    }
  }

  #holdForReader(): void {
    const hold = this.#process.log.hold(this.#process.log.end, AWAY_WINDOW_BYTES);
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
  #woken(signal: AbortSignal): Promise<void> {
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

  #remember(writeId: string, status: Promise<WriteStatus>): void {
    this.#writes ??= new Map();
    const writes = this.#writes;
    writes.set(writeId, status);
    for (const oldest of writes.keys()) {
      if (writes.size <= MAX_REMEMBERED_WRITES) break;
      writes.delete(oldest);
    }
    // A write that failed in an unknown way may be tried again.
    status.catch(() => writes.delete(writeId));
  }

  #toSeq(logSeq: number): number {
    return this.#chunksBeforeExit !== undefined && logSeq > this.#chunksBeforeExit ? logSeq + 1 : logSeq;
  }

  #toLogSeq(seq: number): number {
    return this.#chunksBeforeExit !== undefined && seq > this.#chunksBeforeExit ? seq - 1 : seq;
  }
}

/** The largest delay that `setTimeout` takes, ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Chunks from an offset on, never split: the first one always, further ones while all together are within `maxBytes`. */
async function readWholeChunks(log: OutputLog, from: number, maxBytes: number): Promise<OutputChunk[]> {
  const { end } = log;
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
