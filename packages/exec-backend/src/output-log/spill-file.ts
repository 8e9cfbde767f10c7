import { closeSync, read, writev } from "node:fs";
import { messageOf } from "@codex/values";
import { MAX_SPILL_CHUNKS, MAX_SPILL_IN_FLIGHT_BYTES } from "../limits.js";
import type { OutputChunk } from "./output-chunk.js";
import { openUnnamed } from "./unnamed-file.js";

/**
 * Chunks evicted from memory, in order, in an unnamed file, which disappears with the process in every case.
 * When it or the disk is full, later chunks are rejected.
 */
export interface SpillFile {
  /** Too many bytes are queued; see `MAX_SPILL_IN_FLIGHT_BYTES`. */
  readonly busy: boolean;
  /** Offset of the byte after the last one in the file; 0 when it is empty. */
  readonly end: number;
  /** Why the disk accepts no more, with the directory; undefined while it does. */
  readonly problem: string | undefined;
  /** Returns false when the chunk was rejected. */
  append(chunk: OutputChunk): boolean;
  /** The chunk that contains offset `from`, else the first one after it; undefined when there is none. */
  read(from: number): Promise<OutputChunk | undefined>;
  close(): void;
}

interface Entry {
  chunk: Omit<OutputChunk, "bytes">;
  position: number;
  length: number;
  /** Still in memory until it is written. */
  bytes: Buffer | undefined;
}

/** Buffers handed to one write. */
const BATCH = 64;

export function createSpillFile(options: { directory: string; maxBytes: number; onIdle(): void }): SpillFile {
  const entries: Entry[] = [];
  /** Index of the first entry that is not written yet. */
  let written = 0;
  let fd: number | undefined;
  let size = 0;
  let inFlight = 0;
  let writing = false;
  let reading = 0;
  let refused = false;
  let problem: string | undefined;
  let closed = false;

  const refuse = (error: unknown) => {
    refused = true;
    problem = `${options.directory}: ${messageOf(error)}`;
  };
  const open = (): number | undefined => {
    try {
      const { file, reader } = openUnnamed(options.directory);
      closeSync(reader);
      fd = file;
    } catch (error) {
      refuse(error);
    }
    return fd;
  };
  const pump = () => {
    const batch = entries.slice(written, written + BATCH);
    if (writing || batch.length === 0 || fd === undefined) return;
    writing = true;
    const buffers = batch.flatMap((entry) => (entry.bytes === undefined ? [] : [entry.bytes]));
    writeWhole(fd, buffers, batch[0]!.position, (error) => {
      writing = false;
      if (closed) return closeNow();
      if (error !== null) return refuseFrom(written, error);
      for (const entry of batch) {
        entry.bytes = undefined;
        inFlight -= entry.length;
      }
      written += batch.length;
      pump();
      if (inFlight <= MAX_SPILL_IN_FLIGHT_BYTES / 2) options.onIdle();
    });
  };
  /** The disk failed: this entry and all later ones are dropped. */
  const refuseFrom = (index: number, error: Error) => {
    refuse(error);
    entries.splice(index);
    inFlight = 0;
    options.onIdle();
  };
  /** Not during a read or write on the thread pool, which could hit another file with the same descriptor number. */
  const closeNow = () => {
    if (fd !== undefined && !writing && reading === 0) {
      closeSync(fd);
      fd = undefined;
    }
  };

  return {
    get busy() {
      return inFlight > MAX_SPILL_IN_FLIGHT_BYTES;
    },
    get end() {
      const last = entries.at(-1);
      return last === undefined ? 0 : last.chunk.offset + last.length;
    },
    get problem() {
      return problem;
    },
    append({ bytes, ...chunk }) {
      if (refused || closed) return false;
      if (size + bytes.length > options.maxBytes || entries.length >= MAX_SPILL_CHUNKS) {
        refused = true;
        return false;
      }
      if (fd === undefined && open() === undefined) return false;
      entries.push({ chunk, position: size, length: bytes.length, bytes });
      size += bytes.length;
      inFlight += bytes.length;
      pump();
      return true;
    },
    async read(from) {
      const entry = entries[findEntry(entries, from)];
      if (entry === undefined || fd === undefined || closed) return undefined;
      if (entry.bytes !== undefined) return { ...entry.chunk, bytes: entry.bytes };
      reading += 1;
      const bytes = await readWhole(fd, entry.length, entry.position);
      reading -= 1;
      if (closed) closeNow();
      return bytes && { ...entry.chunk, bytes };
    },
    close() {
      closed = true;
      entries.length = 0;
      closeNow();
    },
  };
}

function findEntry(entries: readonly Entry[], offset: number): number {
  let low = 0;
  let high = entries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { chunk, length } = entries[middle]!;
    if (chunk.offset + length <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function writeWhole(fd: number, buffers: Buffer[], position: number, done: (error: Error | null) => void): void {
  writev(fd, buffers, position, (error, size) => {
    if (error !== null) return done(error);
    const rest = buffers.slice();
    let taken = size;
    while (rest[0] !== undefined && taken >= rest[0].length) taken -= rest.shift()!.length;
    if (rest[0] === undefined) return done(null);
    rest[0] = rest[0].subarray(taken);
    writeWhole(fd, rest, position + size, done);
  });
}

function readWhole(fd: number, length: number, position: number): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const bytes = Buffer.allocUnsafe(length);
    read(fd, bytes, 0, length, position, (error, size) =>
      resolve(error === null && size === length ? bytes : undefined),
    );
  });
}
