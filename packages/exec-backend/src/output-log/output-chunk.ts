import type { OutputStream } from "@codex/executor-protocol";

/** One piece of output as it was read. `seq` counts from 1, `offset` is the byte offset over all streams. */
export interface OutputChunk {
  seq: number;
  stream: OutputStream;
  offset: number;
  /** When it was read: whole milliseconds on the clock of `startedAt`. */
  at: number;
  bytes: Buffer;
}
