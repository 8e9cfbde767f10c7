import { CHUNK_SLAB_BYTES } from "../limits.js";
import type { OpenBurstReader } from "./burst-reader.js";
import { ChunkMemory } from "./chunk-memory.js";
import { PipeChunks } from "./pipe-chunks.js";
import type { ReadTurns } from "./read-turns.js";

/** Shared by the sources of a host: a read buffer for each kind of source, and memory for retained chunks. */
export interface ReadMemory {
  /** Overwritten by every read; its content is copied immediately. */
  readonly pipeBuffer: Buffer;
  readonly terminalBuffer: Buffer;
  readonly chunks: ChunkMemory;
  /** For chunks up to the largest read of a pipe; includes `chunks`. */
  readonly pipeChunks: PipeChunks;
  /** read(2): the number of bytes read, at most `bytes`; 0 or less when there were none, or at the end. */
  read(fd: number, into: Uint8Array, bytes: number): number;
  /** Gives a pipe the capacity for a flood of output, where that is allowed; `read` is its end for reading. */
  enlargePipe(read: number): void;
  readonly openBurstReader: OpenBurstReader;
  readonly turns: ReadTurns;
}

/** The default capacity of a pipe. */
export const PIPE_BYTES = 64 * 1024;

/** Most bytes of one read of a terminal, whatever the buffer; after a full read libuv reads again immediately. */
export const TERMINAL_READ_BYTES = 4095;

export const createReadMemory = (
  host: Pick<ReadMemory, "read" | "enlargePipe" | "openBurstReader" | "turns">,
  largestReadBytes: number,
): ReadMemory => {
  const chunks = new ChunkMemory(CHUNK_SLAB_BYTES);
  return {
    ...host,
    pipeBuffer: Buffer.allocUnsafeSlow(PIPE_BYTES),
    terminalBuffer: Buffer.allocUnsafeSlow(TERMINAL_READ_BYTES),
    chunks,
    pipeChunks: new PipeChunks(chunks, largestReadBytes),
  };
};
