import type { OutputStream } from "@codex/executor-protocol";
import type { OutputChunk, OutputLogLimits } from "./exec-backend.js";
import { DEFAULT_FOLLOW_WINDOW_BYTES, MAX_TAIL_CHUNKS } from "./limits.js";
import { createSpillFile, type SpillFile } from "./spill-file.js";

/**
 * Retained output of one process: numbered chunks with a byte offset over all streams. The first `headBytes` and the
 * last `tailBytes` stay in memory; what leaves memory goes to a bounded spill file, and what leaves that is counted.
 */
export interface OutputLog {
  /** Offset of the next byte: how many bytes the process has written so far. */
  readonly end: number;
  /** `seq` of the last chunk; 0 before the first. */
  readonly lastSeq: number;
  /** No byte will follow. */
  readonly complete: boolean;
  /**
   * The retained bytes of `[from, to)`, in order, and the ranges in it that are gone for good.
   * Reads the spill file where it must. `to` defaults to `end`.
   */
  read(from: number, to?: number): Promise<LogSlice>;
  /** The ranges of `[from, to)` that are gone for good, without reading the rest. `to` defaults to `end`. */
  getEvicted(from: number, to?: number): { from: number; to: number }[];
  /** Resolves at the next chunk after offset `from`, at completion, or when `signal` aborts; at once if already so. */
  waitFor(from: number, signal?: AbortSignal): Promise<void>;
  /**
   * Follows the output from an offset. While a follower has more than `windowBytes` not yet taken the process is
   * paused, so nothing a follower wants is evicted. Ends after the last byte, when `signal` aborts, or when the
   * consumer returns. An offset that jumps says that the bytes between were evicted before they could be followed.
   */
  follow(options?: FollowOptions): AsyncIterable<OutputChunk>;
  /** Holds the process back like a follower that does not move: while more than `windowBytes` came after `from`. */
  hold(from: number, windowBytes: number): LogHold;
  /** Offset of the byte after chunk `seq`; when that chunk left memory, of the oldest byte after it that did not. */
  offsetAfter(seq: number): number;
}

export interface LogHold {
  /** Holds back from this offset on. */
  move(from: number): void;
  release(): void;
}

export interface FollowOptions {
  from?: number;
  windowBytes?: number;
  signal?: AbortSignal;
}

export interface LogSlice {
  chunks: OutputChunk[];
  /** Ranges that were evicted, in order. */
  evicted: { from: number; to: number }[];
}

/** The writing side of a log; a backend owns it. */
export interface WritableOutputLog extends OutputLog {
  append(stream: OutputStream, bytes: Buffer): OutputChunk;
  /** No byte will follow. Idempotent. */
  finish(): void;
  /** Frees the spill file. What is in memory stays readable. Idempotent. */
  close(): void;
}

interface Follower {
  position: number;
  windowBytes: number;
}

/**
 * @param onPressure told when the source should pause (true) and when it may go on (false): a follower lags behind, or
 *   the spill file is slower than the process.
 * @param now milliseconds, the clock of `ExecProcess.startedAt`.
 * @param onDropped handed what left memory for good and nobody can look at any more; only of a log that lends its chunks.
 */
export function createOutputLog(
  limits: OutputLogLimits,
  onPressure: (pause: boolean) => void = () => {},
  now: () => number = () => performance.now(),
  onDropped: ((bytes: Buffer) => void) | undefined = undefined,
): WritableOutputLog {
  const head: OutputChunk[] = [];
  let headBytes = 0;
  let headSealed = false;
  const tail = new Tail();
  const followers = new Set<Follower>();
  const wakers = new Set<() => void>();
  let spill: SpillFile | undefined;
  let end = 0;
  let lastSeq = 0;
  let complete = false;
  let closed = false;
  let pressed = false;
  /** Chunks up to this one were handed out by `read`, for as long as their reader wants. */
  let lastSeqRead = 0;

  const updatePressure = () => {
    let pause = spill?.busy ?? false;
    for (const follower of followers) pause ||= end - follower.position > follower.windowBytes;
    if (pause !== pressed) {
      pressed = pause;
      onPressure(pause);
    }
  };
  const wake = () => {
    for (const waker of [...wakers]) waker();
  };
  const evict = () => {
    while (tail.size > 1 && (tail.bytes > limits.tailBytes || tail.size > MAX_TAIL_CHUNKS)) {
      const chunk = tail.shift();
      if (limits.spillBytes === 0 || closed) {
        drop(chunk);
        continue;
      }
      spill ??= createSpillFile({ directory: limits.spillDir, maxBytes: limits.spillBytes, onIdle: updatePressure });
      spill.append(chunk);
    }
  };
  const drop = ({ seq, offset, bytes }: OutputChunk) => {
    if (limits.lendsChunks !== true || seq <= lastSeqRead) return;
    for (const { position } of followers) if (position < offset + bytes.length) return;
    onDropped?.(bytes);
  };
  const retain = (chunk: OutputChunk) => {
    headSealed ||= headBytes + chunk.bytes.length > limits.headBytes;
    if (!headSealed) {
      head.push(chunk);
      headBytes += chunk.bytes.length;
      return;
    }
    tail.push(chunk);
    evict();
  };
  /** Resolves at the next change or abort, and leaves nothing behind on a log that stays silent. */
  const changed = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve) => {
      const done = () => {
        wakers.delete(done);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      wakers.add(done);
      signal?.addEventListener("abort", done, { once: true });
    });
  /** Chunks in memory from an offset on, at most about `maxBytes` of them; empty when the offset left memory. */
  const inMemory = (from: number, maxBytes: number): OutputChunk[] => {
    const found: OutputChunk[] = [];
    let bytes = 0;
    const source = from < headBytes ? head : tail.chunks;
    for (let index = findChunk(source, from); index < source.length && bytes < maxBytes; index += 1) {
      const chunk = source[index]!;
      if (found.length === 0 && chunk.offset > from) return found;
      found.push(chunk);
      bytes += chunk.bytes.length;
    }
    return found;
  };

  return {
    get end() {
      return end;
    },
    get lastSeq() {
      return lastSeq;
    },
    get complete() {
      return complete;
    },
    append(stream, bytes) {
      lastSeq += 1;
      // Whole milliseconds are small integers, which V8 keeps in the object itself.
      const chunk = { seq: lastSeq, stream, offset: end, at: Math.floor(now()), bytes };
      end += bytes.length;
      retain(chunk);
      if (wakers.size > 0) wake();
      if (followers.size > 0 || spill !== undefined) updatePressure();
      return chunk;
    },
    finish() {
      if (complete) return;
      complete = true;
      wake();
    },
    close() {
      closed = true;
      spill?.close();
    },
    async read(from, to = end) {
      const limit = Math.min(to, end);
      const chunks: OutputChunk[] = [];
      // The spill file is read first: while it is, chunks may move from the tail into it, never back.
      const tailStart = () => tail.oldest?.offset ?? end;
      const spilled: OutputChunk[] = [];
      let position = Math.max(from, headBytes);
      while (spill !== undefined && position < Math.min(limit, tailStart())) {
        const chunk = await spill.read(position);
        if (chunk === undefined) break;
        spilled.push(chunk);
        position = chunk.offset + chunk.bytes.length;
      }
      for (const chunk of head) pushCut(chunks, chunk, from, limit);
      for (const chunk of spilled) pushCut(chunks, chunk, from, limit);
      const start = Math.max(from, position, headBytes);
      const rest = tail.chunks;
      for (let index = findChunk(rest, start); index < rest.length; index += 1) {
        if (rest[index]!.offset >= limit) break;
        pushCut(chunks, rest[index]!, start, limit);
      }
      lastSeqRead = Math.max(lastSeqRead, chunks.at(-1)?.seq ?? 0);
      return { chunks, evicted: findGaps(chunks, from, limit) };
    },
    getEvicted(from, to = end) {
      // What is kept is the head, then what the spill file took, then the tail: at most one range is missing.
      const gap = {
        from: Math.max(from, headBytes, spill?.end ?? 0),
        to: Math.min(to, tail.oldest?.offset ?? end),
      };
      return gap.from < gap.to ? [gap] : [];
    },
    async waitFor(from, signal) {
      while (end <= from && !complete && !isAborted(signal)) {
        await changed(signal);
      }
    },
    async *follow({ from = 0, windowBytes = DEFAULT_FOLLOW_WINDOW_BYTES, signal }: FollowOptions = {}) {
      const follower = { position: from, windowBytes: Math.min(windowBytes, limits.tailBytes / 2) };
      followers.add(follower);
      try {
        while (!isAborted(signal)) {
          if (follower.position >= end) {
            if (complete) return;
            await changed(signal);
            continue;
          }
          let next = inMemory(follower.position, windowBytes);
          if (next.length === 0) next = (await this.read(follower.position, nextInMemory(follower.position))).chunks;
          if (next.length === 0) {
            follower.position = nextInMemory(follower.position);
            continue;
          }
          for (const chunk of next) {
            const cut = cutChunk(chunk, follower.position, end);
            if (cut !== undefined) yield cut;
            follower.position = chunk.offset + chunk.bytes.length;
            if (pressed) updatePressure();
            if (isAborted(signal)) return;
          }
        }
      } finally {
        followers.delete(follower);
        updatePressure();
      }
    },
    hold(from, windowBytes) {
      const follower = { position: from, windowBytes };
      followers.add(follower);
      updatePressure();
      return {
        move(from) {
          follower.position = from;
          updatePressure();
        },
        release() {
          if (followers.delete(follower)) updatePressure();
        },
      };
    },
    offsetAfter(seq) {
      if (seq <= 0) return 0;
      const inHead = head.at(-1)?.seq ?? 0;
      const chunks = seq <= inHead ? head : tail.chunks;
      const chunk = chunks[findIndex(chunks, (candidate) => candidate.seq >= seq)];
      if (chunk === undefined) return end;
      return chunk.seq === seq ? chunk.offset + chunk.bytes.length : chunk.offset;
    },
  };

  function nextInMemory(from: number): number {
    if (from < headBytes) return headBytes;
    return Math.max(from, tail.oldest?.offset ?? end);
  }
}

/** A queue of chunks whose front is dropped often; compacted now and then instead of shifted. */
class Tail {
  #chunks: OutputChunk[] = [];
  #first = 0;
  #bytes = 0;

  get size(): number {
    return this.#chunks.length - this.#first;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** In order, oldest first, after some that stand for what was dropped and hold no byte. */
  get chunks(): readonly OutputChunk[] {
    return this.#chunks;
  }

  get oldest(): OutputChunk | undefined {
    return this.#chunks[this.#first];
  }

  push(chunk: OutputChunk): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.bytes.length;
  }

  shift(): OutputChunk {
    const chunk = this.#chunks[this.#first]!;
    this.#chunks[this.#first] = EMPTY;
    this.#first += 1;
    this.#bytes -= chunk.bytes.length;
    if (this.#first > 64 && this.#first * 2 > this.#chunks.length) {
      this.#chunks = this.#chunks.slice(this.#first);
      this.#first = 0;
    }
    return chunk;
  }
}

/** Stands where a dropped chunk was, so that its bytes are freed at once. */
const EMPTY: OutputChunk = Object.freeze({ seq: 0, stream: "stdout", offset: 0, at: 0, bytes: Buffer.alloc(0) });

/** Index of the chunk that holds `offset`, else of the first one after it. */
const findChunk = (chunks: readonly OutputChunk[], offset: number): number =>
  findIndex(chunks, (chunk) => chunk.offset + chunk.bytes.length > offset);

/** Index of the first chunk for which `holds`, which must hold for all after it too; the length when there is none. */
function findIndex(chunks: readonly OutputChunk[], holds: (chunk: OutputChunk) => boolean): number {
  let low = 0;
  let high = chunks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(chunks[middle]!)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The part of a chunk inside `[from, to)`; undefined when there is none. */
function cutChunk(chunk: OutputChunk, from: number, to: number): OutputChunk | undefined {
  const start = Math.max(0, from - chunk.offset);
  const stop = Math.min(chunk.bytes.length, to - chunk.offset);
  if (start >= stop) return undefined;
  if (start === 0 && stop === chunk.bytes.length) return chunk;
  return { ...chunk, offset: chunk.offset + start, bytes: chunk.bytes.subarray(start, stop) };
}

function pushCut(into: OutputChunk[], chunk: OutputChunk, from: number, to: number): void {
  const cut = cutChunk(chunk, from, to);
  if (cut !== undefined) into.push(cut);
}

function findGaps(chunks: readonly OutputChunk[], from: number, to: number): { from: number; to: number }[] {
  const gaps: { from: number; to: number }[] = [];
  let expected = from;
  for (const chunk of chunks) {
    if (chunk.offset > expected) gaps.push({ from: expected, to: chunk.offset });
    expected = chunk.offset + chunk.bytes.length;
  }
  if (expected < to) gaps.push({ from: expected, to });
  return gaps;
}

/** A call, because the flow analysis of the compiler does not see that it changes while a generator is suspended. */
const isAborted = (signal: AbortSignal | undefined): boolean => signal?.aborted === true;
