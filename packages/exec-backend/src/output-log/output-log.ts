import type { OutputStream } from "@codex/executor-protocol";
import type { OutputLogLimits } from "../limits.js";
import { DEFAULT_FOLLOW_WINDOW_BYTES, MAX_TAIL_CHUNKS } from "../limits.js";
import { ChunkQueue } from "./chunk-queue.js";
import { findChunk, findGaps, findIndex, pushCut } from "./chunks.js";
import { LentChunks } from "./lent-chunks.js";
import type { LogHold, LogHost, LogPin } from "./log-host.js";
import { type Follower, type LogReader, RetainedLogReader } from "./log-reader.js";
import type { OutputChunk } from "./output-chunk.js";
import { createSpillFile, type SpillFile } from "./spill-file.js";

/**
 * Retained output of one process: numbered chunks with a byte offset over all streams. The first `headBytes` and the
 * last `tailBytes` stay in memory; the rest goes to a bounded spill file; what does not fit there is evicted and counted.
 */
export interface OutputLog {
  /** Offset of the next byte: how many bytes the process has written so far. */
  readonly end: number;
  /** `seq` of the last chunk; 0 before the first. */
  readonly lastSeq: number;
  /** No more output will follow. */
  readonly complete: boolean;
  /** The source is paused because a follower or the disk lags behind. Some output may not have been read from it yet. */
  readonly isPaused: boolean;
  /** Why the disk accepts no more output, with the directory, such as that it is full. Undefined while it does. */
  readonly spillProblem: string | undefined;
  /**
   * The retained bytes of `[from, to)`, in order, and its evicted ranges. Reads the spill file where necessary. `to` defaults
   * to `end`.
   */
  read(from: number, to?: number): Promise<LogSlice>;
  /** The evicted and skipped ranges of `[from, to)`, without reading the rest. `to` defaults to `end`. */
  getEvicted(from: number, to?: number): MissingRange[];
  /** Bytes that were never here, because the host of the process lost them, and why; undefined if there are none. */
  readonly skipped?: SkippedOutput | undefined;
  /** Resolves once there is output after offset `from`, at completion, or when `signal` aborts. */
  waitFor(from: number, signal?: AbortSignal): Promise<void>;
  /**
   * Follows the output from an offset. While a follower lags by more than `windowBytes` the process is paused, so its
   * remaining output is not evicted. Ends after the last byte, when `signal` aborts, or when the consumer returns. A gap
   * between offsets means that the bytes in it were evicted before the follower reached them.
   */
  follow(options?: FollowOptions): AsyncIterable<OutputChunk>;
  /** `follow` for a caller that continues to read in the same turn of the event loop. Close it after use. */
  openReader(options: ReaderOptions): LogReader;
  /** Pauses the process like a follower that does not advance: while there are more than `windowBytes` after `from`. */
  hold(from: number, windowBytes: number): LogHold;
  /** With `lendsChunks`, keeps the memory of chunks from this offset on from being reused. Never pauses the process. */
  pin?(from: number): LogPin;
  /** Bytes of output in memory; undefined where that is not known. */
  readonly heldBytes?: number;
  /**
   * Reduces the memory limit: output before the last `tailBytes` that no follower or hold needs is evicted, as if it were over
   * the limit.
   */
  shrink?(tailBytes: number): void;
  /** Offset of the byte after chunk `seq`; when that chunk is not in memory, of the oldest later byte that is. */
  offsetAfter(seq: number): number;
}

/** Where and how to follow an output log. */
export interface FollowOptions {
  /** Byte offset. Default 0. */
  from?: number;
  /** Bytes that the follower may lag behind before the process is paused. Default 256 KiB. */
  windowBytes?: number;
  signal?: AbortSignal;
}

/** Where to read an output log. */
export interface ReaderOptions extends Pick<FollowOptions, "from" | "windowBytes"> {
  /** Called when there is more, and at completion. */
  onChange?: () => void;
}

/** The result of `OutputLog.read`. */
export interface LogSlice {
  chunks: OutputChunk[];
  /** Ranges that were evicted or skipped, in order. */
  evicted: { from: number; to: number }[];
}

/** A half-open range of byte offsets that is not retained. */
export interface MissingRange {
  from: number;
  to: number;
  /** Its size is not known but estimated; later offsets count it as such. */
  estimated?: true;
}

/** Output that a log never had. */
export interface SkippedOutput {
  bytes: number;
  /** One sentence without a period. */
  reason: string;
}

/** The writing side of a log; owned by a backend. */
export interface WritableOutputLog extends OutputLog {
  append(stream: OutputStream, bytes: Buffer): OutputChunk;
  /**
   * Counts bytes that were lost before they came here: the next output comes after them, and they are reported as evicted. `estimated`:
   * their number is not known exactly.
   */
  skip(skipped: SkippedOutput, options?: { estimated: boolean }): void;
  /** No more output will follow. Idempotent. */
  finish(): void;
  /** Frees the spill file. Output in memory stays readable. Idempotent. */
  close(): void;
}

/**
 * @param onPressure called when the source should pause (true), because a follower or the spill file lags behind, and when it
 *   may resume (false).
 * @param now milliseconds, the clock of `ExecProcess.startedAt`.
 * @param onDropped called with the memory of evicted bytes that have no reader left; only with `lendsChunks`.
 */
export const createOutputLog = (
  limits: OutputLogLimits,
  onPressure: (pause: boolean) => void = ignore,
  now: () => number = readClock,
  onDropped: (bytes: Buffer) => void = ignore,
): WritableOutputLog => new RetainedLog(limits, { onPressure, now, onDropped });

/** Members are created when needed: there may be thousands of logs, most of them small and complete. */
export class RetainedLog implements WritableOutputLog {
  readonly #limits: OutputLogLimits;
  readonly #host: LogHost;
  #head: OutputChunk[] | undefined;
  #headBytes = 0;
  #headSealed = false;
  readonly #tail = new ChunkQueue();
  #tailBytes: number;
  #followers: Set<Follower> | undefined;
  #wakers: Set<() => void> | undefined;
  #spill: SpillFile | undefined;
  #end = 0;
  #lastSeq = 0;
  #complete = false;
  #closed = false;
  #isPaused = false;
  #lent: LentChunks | undefined;
  /** Skipped ranges, in order; those within the evicted range are removed from time to time. */
  #gaps: MissingRange[] | undefined;
  /** Whether the size of a gap that was removed is an upper bound. */
  #isEvictedEstimated = false;
  #skipped: SkippedOutput | undefined;

  constructor(limits: OutputLogLimits, host: LogHost) {
    this.#limits = limits;
    this.#tailBytes = limits.tailBytes;
    this.#host = host;
  }

  /** Bytes of output that are in memory. */
  get heldBytes(): number {
    return this.#headBytes + this.#tail.bytes;
  }

  shrink(tailBytes: number): void {
    const positions = Array.from(this.#followers ?? [], ({ position }) => position);
    const wanted = this.#end - Math.min(this.#end, ...positions);
    this.#tailBytes = Math.min(this.#tailBytes, Math.max(tailBytes, wanted));
    for (const follower of this.#followers ?? []) follower.windowBytes = this.#clampWindow(follower.windowBytes);
    this.#evict();
    this.#updatePressure();
  }

  get end(): number {
    return this.#end;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  get spillProblem(): string | undefined {
    return this.#spill?.problem;
  }

  get complete(): boolean {
    return this.#complete;
  }

  append(stream: OutputStream, bytes: Buffer): OutputChunk {
    this.#lastSeq += 1;
    // Whole milliseconds are small integers, which V8 stores in the object itself.
    const chunk = { seq: this.#lastSeq, stream, offset: this.#end, at: Math.floor(this.#host.now()), bytes };
    this.#end += bytes.length;
    this.#retain(chunk);
    this.#wake();
    if (this.#followers !== undefined || this.#spill !== undefined) this.#updatePressure();
    return chunk;
  }

  get skipped(): SkippedOutput | undefined {
    return this.#skipped;
  }

  skip({ bytes, reason }: SkippedOutput, { estimated } = { estimated: false }): void {
    if (bytes <= 0) return;
    // The head has no gaps.
    this.#headSealed = true;
    this.#gaps ??= [];
    const gaps = this.#gaps;
    const last = gaps.at(-1);
    if (last?.to === this.#end) last.to += bytes;
    else gaps.push({ from: this.#end, to: this.#end + bytes });
    if (estimated) gaps.at(-1)!.estimated = true;
    if (gaps.length % GAPS_PER_CLEANUP === 0) this.#forgetGaps(gaps);
    this.#skipped = { bytes: (this.#skipped?.bytes ?? 0) + bytes, reason };
    this.#end += bytes;
    this.#wake();
    this.#updatePressure();
  }

  finish(): void {
    if (this.#complete) return;
    this.#complete = true;
    this.#tail.trim();
    this.#wake();
    this.#wakers = undefined;
  }

  close(): void {
    this.#closed = true;
    this.#spill?.close();
  }

  async read(from: number, to = this.#end): Promise<LogSlice> {
    const limit = Math.min(to, this.#end);
    const chunks: OutputChunk[] = [];
    // The spill file is read first: while it is, chunks may move from the tail into it, never back.
    const spilled: OutputChunk[] = [];
    let position = Math.max(from, this.#headBytes);
    while (this.#spill !== undefined && position < Math.min(limit, this.#spill.end)) {
      const chunk = await this.#spill.read(position);
      if (chunk === undefined || chunk.offset >= limit) break;
      spilled.push(chunk);
      position = chunk.offset + chunk.bytes.length;
    }
    for (const chunk of this.#head ?? []) pushCut(chunks, chunk, from, limit);
    for (const chunk of spilled) pushCut(chunks, chunk, from, limit);
    const start = Math.max(from, position, this.#headBytes);
    const rest = this.#tail.chunks;
    for (let index = findChunk(rest, start); index < rest.length; index += 1) {
      if (rest[index]!.offset >= limit) break;
      pushCut(chunks, rest[index]!, start, limit);
    }
    this.#getLent()?.noteRead(chunks.at(-1)?.seq ?? 0);
    return { chunks, evicted: findGaps(chunks, from, limit) };
  }

  getEvicted(from: number, to = this.#end): MissingRange[] {
    const cut = (gap: MissingRange) => ({ ...gap, from: Math.max(from, gap.from), to: Math.min(to, gap.to) });
    return this.#listMissing()
      .map(cut)
      .filter((gap) => gap.from < gap.to);
  }

  /** Retained are the head, the contents of the spill file and the tail, in this order: between the latter two one range is evicted. */
  #listMissing(): MissingRange[] {
    const evicted = this.#evicted;
    const gaps = this.#gaps;
    if (gaps === undefined) return [evicted];
    const isEstimated = this.#isEvictedEstimated || gaps.some((gap) => gap.estimated && this.#isInEvicted(gap));
    const main = isEstimated ? { ...evicted, estimated: true as const } : evicted;
    return [...gaps.filter(({ to }) => to <= main.from), main, ...gaps.filter((gap) => gap.from >= main.to)];
  }

  get #evicted(): MissingRange {
    return { from: Math.max(this.#headBytes, this.#spill?.end ?? 0), to: this.#tailStart };
  }

  /** Those within the evicted range, which covers them. */
  #forgetGaps(gaps: readonly MissingRange[]): void {
    this.#isEvictedEstimated ||= gaps.some((gap) => gap.estimated && this.#isInEvicted(gap));
    this.#gaps = gaps.filter((gap) => !this.#isInEvicted(gap));
  }

  #isInEvicted(gap: MissingRange): boolean {
    const { from, to } = this.#evicted;
    return gap.from >= from && gap.to <= to;
  }

  async waitFor(from: number, signal?: AbortSignal): Promise<void> {
    while (this.#end <= from && !this.#complete && !isAborted(signal)) {
      await this.#changed(signal);
    }
  }

  async *follow({
    from = 0,
    windowBytes = DEFAULT_FOLLOW_WINDOW_BYTES,
    signal,
  }: FollowOptions = {}): AsyncGenerator<OutputChunk> {
    const reader = this.openReader({ from, windowBytes });
    try {
      while (!isAborted(signal)) {
        const chunk = reader.next();
        if (chunk !== undefined) yield chunk;
        else if (!reader.isAtEnd) await reader.fetch();
        else if (this.#complete) return;
        else await this.#changed(signal);
      }
    } finally {
      reader.close();
    }
  }

  openReader({ from = 0, windowBytes = DEFAULT_FOLLOW_WINDOW_BYTES, onChange = () => {} }: ReaderOptions): LogReader {
    const follower = { position: from, windowBytes: Math.min(windowBytes, this.#tailBytes / 2) };
    this.#addFollower(follower);
    this.#wakers ??= new Set();
    this.#wakers.add(onChange);
    return new RetainedLogReader(follower, windowBytes, {
      getEnd: () => this.#end,
      inMemory: (at, maxBytes) => this.#inMemory(at, maxBytes),
      nextInMemory: (at) => this.#nextInMemory(at),
      nextRetained: (at) => this.getEvicted(at).find(({ from: gap }) => gap === at)?.to ?? at,
      read: (at, to) => this.read(at, to),
      onMoved: () => {
        if (this.#isPaused) this.#updatePressure();
      },
      onClosed: () => {
        this.#wakers?.delete(onChange);
        this.#removeFollower(follower);
      },
    });
  }

  hold(from: number, windowBytes: number): LogHold {
    const follower = { position: from, windowBytes: this.#clampWindow(windowBytes) };
    this.#addFollower(follower);
    this.#updatePressure();
    return {
      move: (position) => {
        follower.position = position;
        this.#updatePressure();
      },
      release: () => this.#removeFollower(follower),
    };
  }

  pin(from: number): LogPin {
    return this.#getLent()?.pin(from) ?? NO_PIN;
  }

  offsetAfter(seq: number): number {
    if (seq <= 0) return 0;
    const chunks = seq <= (this.#head?.at(-1)?.seq ?? 0) ? this.#head! : this.#tail.chunks;
    const chunk = chunks[findIndex(chunks, (candidate) => candidate.seq >= seq)];
    if (chunk === undefined) return this.#end;
    return chunk.seq === seq ? chunk.offset + chunk.bytes.length : chunk.offset;
  }

  /** Keeps what a follower has not read yet in memory, also after `shrink`. */
  #clampWindow(windowBytes: number): number {
    return this.#tailBytes < this.#limits.tailBytes ? Math.min(windowBytes, this.#tailBytes / 2) : windowBytes;
  }

  get #tailStart(): number {
    return this.#tail.oldest?.offset ?? this.#end;
  }

  #retain(chunk: OutputChunk): void {
    this.#headSealed ||= this.#headBytes + chunk.bytes.length > this.#limits.headBytes;
    if (!this.#headSealed) {
      this.#head ??= [];
      this.#head.push(chunk);
      this.#headBytes += chunk.bytes.length;
      return;
    }
    this.#tail.push(chunk);
    this.#evict();
  }

  #evict(): void {
    const { spillBytes, spillDir } = this.#limits;
    const tail = this.#tail;
    while (tail.size > 1 && (tail.bytes > this.#tailBytes || tail.size > MAX_TAIL_CHUNKS)) {
      const chunk = tail.shift();
      if (spillBytes === 0 || this.#closed) {
        this.#getLent()?.add(chunk);
        continue;
      }
      const onIdle = () => this.#updatePressure();
      this.#spill ??= createSpillFile({ directory: spillDir, maxBytes: spillBytes, onIdle });
      if (!this.#spill.append(chunk)) this.#getLent()?.add(chunk);
    }
  }

  #getLent(): LentChunks | undefined {
    if (this.#limits.lendsChunks !== true) return undefined;
    this.#lent ??= new LentChunks(this.#host, () => this.#followers);
    return this.#lent;
  }

  #addFollower(follower: Follower): void {
    this.#followers ??= new Set();
    this.#followers.add(follower);
  }

  #removeFollower(follower: Follower): void {
    if (this.#followers?.delete(follower) !== true) return;
    if (this.#followers.size === 0) this.#followers = undefined;
    this.#updatePressure();
  }

  #updatePressure(): void {
    let pause = this.#spill?.busy ?? false;
    for (const { position, windowBytes } of this.#followers ?? []) {
      pause ||= this.#end - position > windowBytes && this.#countAfter(position) > windowBytes;
    }
    if (pause !== this.#isPaused) {
      this.#isPaused = pause;
      this.#host.onPressure(pause);
    }
  }

  /** Bytes from an offset on, without skipped ones. */
  #countAfter(position: number): number {
    let count = this.#end - position;
    for (let index = (this.#gaps?.length ?? 0) - 1; index >= 0; index -= 1) {
      const { from, to } = this.#gaps![index]!;
      if (to <= position) break;
      count -= to - Math.max(from, position);
    }
    return count;
  }

  /** Resolves at the next change or abort, and then leaves no listener behind. */
  #changed(signal: AbortSignal | undefined): Promise<void> {
    return new Promise<void>((resolve) => {
      const done = () => {
        this.#wakers?.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      this.#wakers ??= new Set();
      this.#wakers.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  #wake(): void {
    if (this.#wakers === undefined || this.#wakers.size === 0) return;
    for (const waker of [...this.#wakers]) waker();
  }

  /** Chunks in memory from an offset on, about `maxBytes` at most; empty when the offset is not in memory. */
  #inMemory(from: number, maxBytes: number): OutputChunk[] {
    const found: OutputChunk[] = [];
    let bytes = 0;
    const source = from < this.#headBytes ? this.#head! : this.#tail.chunks;
    for (let index = findChunk(source, from); index < source.length && bytes < maxBytes; index += 1) {
      const chunk = source[index]!;
      if (found.length === 0 && chunk.offset > from) return found;
      found.push(chunk);
      bytes += chunk.bytes.length;
    }
    return found;
  }

  #nextInMemory(from: number): number {
    if (from < this.#headBytes) return this.#headBytes;
    return Math.max(from, this.#tailStart);
  }
}

/** There are never many more gaps than retained chunks: two of them have one between them. */
const GAPS_PER_CLEANUP = 64;

const ignore = (): void => {};
const NO_PIN: LogPin = { move: ignore, release: ignore, keepAll: ignore };
const readClock = (): number => performance.now();

/** A function, because the compiler assumes that the value does not change while a generator is suspended. */
const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;
