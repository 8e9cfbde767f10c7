import type { OutputChunk } from "./exec-backend.js";

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
  /** Resolves at the next chunk after offset `from`, at completion, or when `signal` aborts; at once if already so. */
  waitFor(from: number, signal?: AbortSignal): Promise<void>;
  /**
   * Follows the output from an offset. While a follower has more than `windowBytes` not yet taken the process is
   * paused, so nothing a follower wants is evicted. Ends after the last byte, or when the consumer returns.
   */
  follow(options?: { from?: number; windowBytes?: number; signal?: AbortSignal }): AsyncIterable<OutputChunk>;
}

export interface LogSlice {
  chunks: OutputChunk[];
  /** Ranges that were evicted, in order. */
  evicted: { from: number; to: number }[];
}
