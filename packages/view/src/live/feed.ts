import type { RecordedOutput } from "@codex/executor-protocol";
import {
  AHEAD_BYTES,
  AHEAD_MS,
  AHEAD_WAIT_MS,
  FLOOD_BYTES,
  FLOOD_PART_BYTES,
  FLOOD_WINDOW_MS,
  PART_BYTES,
  QUIET_MS,
  READ_WAIT_MS,
  SAMPLED_OUTPUT_BYTES,
  SKIPPED_TO_BYTES,
  VIEWED_OUTPUT_BYTES,
} from "../limits.js";
import { encodeFrame } from "../wire/frame.js";
import type { GapReason } from "../wire/messages.js";
import type { OutputPart } from "../wire/port.js";
import { KeptOutput } from "./kept-output.js";
import type { SessionRead } from "./session-reader.js";

/** Dependencies of a feed. */
export interface FeedSource {
  /** Reads from the executor. */
  read(request: { from: number; waitMs: number }, signal: AbortSignal): Promise<SessionRead>;
  /** Called when output of the session was read. */
  learned(output: RecordedOutput): void;
  pause(ms: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds. */
  now(): number;
}

/**
 * The output of one session: what calls bring, kept for a while, and otherwise what the executor retains. It is read only
 * while a page shows it, at the pace of that page; a page that is too far behind a program that goes on writing skips to the
 * newest output. The program is never held up.
 */
export class Feed {
  readonly kept = new KeptOutput();
  /** Number of the session in frames. */
  readonly #session: number;
  readonly #source: FeedSource;
  readonly #changed = new Set<() => void>();
  #openCalls = 0;
  /** Offset behind the newest byte that the executor has, as far as is known; milliseconds, when that changed. */
  #knownEnd = 0;
  #grewAt = Number.NEGATIVE_INFINITY;
  /** Milliseconds, when growth was measured last; the end then, and what it had grown in the window before, bytes. */
  #windowAt = Number.NEGATIVE_INFINITY;
  #windowFrom = 0;
  #windowGrowth = 0;
  /** Offset at which a page reads. */
  #wanted = 0;
  /** Milliseconds, when. */
  #wantedAt = 0;
  #openReads = 0;
  readonly #closing = new AbortController();
  #isReadingAhead = false;
  /** A read of one page waits for output that the executor does not have yet. */
  #isWaiting = false;
  #isComplete = false;

  constructor(session: number, source: FeedSource) {
    this.#session = session;
    this.#source = source;
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  append(offset: number, bytes: Uint8Array, at: number): void {
    // A reloaded page reconnects within this time.
    if (this.#openReads === 0 && at - this.#wantedAt > AHEAD_MS) this.kept.reading = "none";
    this.kept.append(offset, bytes, at);
    this.#grow(offset + bytes.length);
    this.#notify();
  }

  /** A call with live output begins. Returns a function to call at its end. */
  follow(): () => void {
    this.#openCalls += 1;
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#openCalls -= 1;
      this.#notify();
    };
  }

  /** The output ends at this offset. */
  complete(end: number): void {
    this.kept.reach(end);
    this.#isComplete = true;
    this.#notify();
  }

  /** Resolves with the next part from an offset on, when there is one. Undefined if the signal aborts. */
  async read(from: number, signal: AbortSignal): Promise<OutputPart | undefined> {
    if (this.kept.reading === "none" || !this.#isBusy) this.kept.reading = "all";
    this.#wanted = Math.min(from, this.kept.end);
    this.#openReads += 1;
    try {
      return await this.#readNext(from, signal);
    } finally {
      this.#openReads -= 1;
      this.#wantedAt = this.#source.now();
    }
  }

  async #readNext(from: number, signal: AbortSignal): Promise<OutputPart | undefined> {
    this.#wantedAt = this.#source.now();
    while (!signal.aborted) {
      const farBehind = this.kept.reading === "samples" ? SAMPLED_OUTPUT_BYTES : VIEWED_OUTPUT_BYTES;
      if (this.#isBusy && this.#knownEnd - from > farBehind) {
        const to = this.#knownEnd - SKIPPED_TO_BYTES;
        this.kept.reading = "samples";
        this.kept.reach(to); // what is read ahead goes on there
        return this.#gap(from, to, "skipped");
      }
      const bytes = this.kept.read(from, this.#isFlood ? FLOOD_PART_BYTES : PART_BYTES);
      if (bytes !== undefined && !this.#isReadingAhead) void this.#readAhead();
      if (bytes !== undefined) return this.#part(from, bytes);
      if (from >= this.kept.end && this.#isComplete) return this.#part(from, []);
      if (from >= this.kept.end && (this.#openCalls > 0 || this.#isReadingAhead || this.#isWaiting))
        await this.#wait(signal);
      else {
        const part = await this.#readRetained(from, signal);
        if (part !== undefined) return part;
      }
    }
    return undefined;
  }

  /** Reads ahead, up to a limit: the executor may drop output before a slow page has read it. */
  async #readAhead(): Promise<void> {
    this.#isReadingAhead = true;
    const { signal } = this.#closing;
    while (!this.#isComplete && !signal.aborted && this.#openCalls === 0) {
      const from = this.kept.end;
      // A reloaded page reconnects within this time.
      if (from - this.#wanted >= AHEAD_BYTES || this.#source.now() - this.#wantedAt > AHEAD_MS) break;
      const read = await this.#source.read({ from, waitMs: AHEAD_WAIT_MS }, signal);
      if (read.kind !== "output") break;
      this.#take(from, read.output);
      this.#notify();
    }
    this.#isReadingAhead = false;
    this.#notify();
  }

  /** Stops reading ahead. */
  close(): void {
    this.#closing.abort();
  }

  /** Reads from the executor. Undefined if there is nothing yet. */
  async #readRetained(from: number, signal: AbortSignal): Promise<OutputPart | undefined> {
    const isAtEnd = from >= this.kept.end;
    const stop = new AbortController();
    const over = AbortSignal.any([signal, stop.signal]);
    // A new call delivers the output itself.
    const unwatch = isAtEnd ? this.#watch(() => stop.abort()) : () => {};
    if (isAtEnd) this.#isWaiting = true;
    const read = await this.#source.read({ from, waitMs: isAtEnd ? READ_WAIT_MS : 0 }, over).finally(() => {
      unwatch();
      if (isAtEnd) this.#isWaiting = false;
    });
    // Other pages wait for what this one reads, or for their turn to wait.
    if (isAtEnd) queueMicrotask(() => this.#notify());
    if (over.aborted && read.kind !== "output") return undefined;
    if (read.kind === "unreachable") {
      // The executor may come back with its sessions.
      await this.#source.pause(RETRY_MS, signal);
      return undefined;
    }
    if (read.kind !== "output") {
      if (isAtEnd) this.complete(this.kept.end);
      return this.#gap(from, this.kept.nextKept(from) ?? this.kept.end, "gone");
    }
    const part = this.#take(from, read.output);
    if (part !== undefined || isAtEnd) return part;
    return this.#gap(from, this.kept.nextKept(from) ?? this.kept.end, "gone");
  }

  #take(from: number, output: RecordedOutput): OutputPart | undefined {
    this.#source.learned(output);
    const { chunks, gone, end, closed, outcome } = output;
    const pieces = chunks.map(({ offset, data, at }) => {
      return { offset, bytes: Buffer.from(data, "base64"), at: output.startedAt + at };
    });
    for (const { offset, bytes, at } of pieces) this.kept.append(offset, bytes, at);
    if (this.#knownEnd === 0)
      this.#knownEnd = end; // written before it was read
    else this.#grow(end);
    if (closed && outcome.kind !== "running" && output.range.to === end) this.complete(end);
    const missing = gone.find((range) => range.from <= from && from < range.to);
    if (missing !== undefined) return this.#gap(from, missing.to, "gone");
    const parts: Uint8Array[] = [];
    let next = from;
    for (const { offset, bytes } of pieces) {
      if (offset > next || offset + bytes.length <= next) continue;
      parts.push(bytes.subarray(next - offset));
      next = offset + bytes.length;
    }
    return next === from ? undefined : this.#part(from, parts);
  }

  #part(from: number, bytes: readonly Uint8Array[]): OutputPart {
    const to = bytes.reduce((end, part) => end + part.length, from);
    return { ...this.#gap(from, to), frame: to === from ? undefined : encodeFrame(this.#session, from, bytes) };
  }

  #gap(from: number, end: number, reason?: GapReason): OutputPart {
    const to = Math.max(from, end);
    const isComplete = this.#isComplete && to >= this.kept.end;
    const pace = this.#isFlood ? "flood" : this.#isBusy ? "busy" : "none";
    return { from, to, frame: undefined, gap: to === from ? undefined : reason, pace, isComplete };
  }

  /** The program writes more than a page can follow. */
  get #isFlood(): boolean {
    return this.#isBusy && Math.max(this.#windowGrowth, this.#knownEnd - this.#windowFrom) > FLOOD_BYTES;
  }

  /** The program has written within `QUIET_MS`. */
  get #isBusy(): boolean {
    return !this.#isComplete && this.#source.now() - this.#grewAt < QUIET_MS;
  }

  #grow(end: number): void {
    if (end <= this.#knownEnd) return;
    const now = this.#source.now();
    if (now - this.#windowAt >= FLOOD_WINDOW_MS) {
      const isNext = now - this.#windowAt < 2 * FLOOD_WINDOW_MS;
      this.#windowGrowth = isNext ? this.#knownEnd - this.#windowFrom : 0;
      this.#windowAt = now;
      this.#windowFrom = this.#knownEnd;
    }
    this.#knownEnd = end;
    this.#grewAt = now;
  }

  #notify(): void {
    if (this.#changed.size > 0) for (const changed of [...this.#changed]) changed();
  }

  #watch(changed: () => void): () => void {
    this.#changed.add(changed);
    return () => void this.#changed.delete(changed);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const unwatch = this.#watch(() => done());
      const done = () => {
        unwatch();
        signal.removeEventListener("abort", done);
        resolve();
      };
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** Interval between two attempts to reach an executor, milliseconds. */
const RETRY_MS = 1000;
