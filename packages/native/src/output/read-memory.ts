import { CHUNK_SLAB_BYTES } from "../limits.js";
import type { OpenBurstReader } from "./burst-reader.js";
import { ChunkMemory } from "./chunk-memory.js";
import type { ReadTurns } from "./read-turns.js";

/** What the sources of a host share: one buffer per kind for each read in turn, and memory for the chunks that are kept. */
export interface ReadMemory {
  /** Overwritten with every read: its content is copied at once. */
  readonly pipeBuffer: Buffer;
  readonly terminalBuffer: Buffer;
  readonly chunks: ChunkMemory;
  /** For what a read of an enlarged pipe gives. */
  readonly largeChunks: ChunkMemory;
  /** read(2): the number of bytes that were there, at most `bytes`; 0 or less when there was none, or none will come. */
  read(fd: number, into: Uint8Array, bytes: number): number;
  readonly openBurstReader: OpenBurstReader;
  readonly turns: ReadTurns;
}

/** The capacity that the system gives a pipe. */
export const PIPE_BYTES = 64 * 1024;

/** One read of a terminal gives at most this many bytes, whatever the buffer; a full read makes libuv read again at once. */
export const TERMINAL_READ_BYTES = 4095;

export const createReadMemory = (
  read: ReadMemory["read"],
  openBurstReader: OpenBurstReader,
  turns: ReadTurns,
  outputPipeBytes: number,
): ReadMemory => ({
  pipeBuffer: Buffer.allocUnsafeSlow(outputPipeBytes),
  terminalBuffer: Buffer.allocUnsafeSlow(TERMINAL_READ_BYTES),
  chunks: new ChunkMemory(CHUNK_SLAB_BYTES),
  largeChunks: new ChunkMemory(outputPipeBytes),
  read,
  openBurstReader,
  turns,
});
