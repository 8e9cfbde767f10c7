import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync, read, unlinkSync, write } from "node:fs";
import { join } from "node:path";
import type { OutputChunk } from "./exec-backend.js";
import { MAX_SPILL_IN_FLIGHT_BYTES } from "./limits.js";

/**
 * Chunks that left memory, in order, in a file that has no name: it is gone with the process, whatever happens.
 * Keeps what came first; when it is full, or the disk is, later chunks are not taken.
 */
export interface SpillFile {
  /** More is on its way to the disk than should be held in memory. */
  readonly busy: boolean;
  append(chunk: OutputChunk): void;
  /** Chunks from `from` on up to `to`, as far as the file holds them; some at a time. */
  read(from: number, to: number): Promise<OutputChunk[]>;
  close(): void;
}

interface Record {
  chunk: Omit<OutputChunk, "bytes">;
  position: number;
  length: number;
  /** Still in memory until it is written. */
  bytes: Buffer | undefined;
}

/** Records kept for finding a chunk; small neighbours of one stream are joined, so this is not reached before the size is. */
const JOIN_BELOW_BYTES = 16 * 1024;

export function createSpillFile(options: { directory: string; maxBytes: number; onIdle(): void }): SpillFile {
  const records: Record[] = [];
  const queue: Record[] = [];
  let fd: number | undefined;
  let size = 0;
  let inFlight = 0;
  let writing = false;
  let refused = false;
  let closed = false;

  const open = (): number | undefined => {
    const path = join(options.directory, `codex-output-${randomBytes(9).toString("hex")}`);
    try {
      fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
      unlinkSync(path);
    } catch {
      refused = true;
    }
    return fd;
  };
  const pump = () => {
    const record = queue[0];
    if (writing || record?.bytes === undefined || fd === undefined) return;
    writing = true;
    writeWhole(fd, record.bytes, record.position, (error) => {
      writing = false;
      queue.shift();
      inFlight -= record.length;
      record.bytes = undefined;
      if (error !== null) drop(record);
      if (closed) return closeNow();
      pump();
      if (inFlight <= MAX_SPILL_IN_FLIGHT_BYTES / 2) options.onIdle();
    });
  };
  /** The disk refused: this record and all later ones are not held. */
  const drop = (record: Record) => {
    refused = true;
    records.splice(records.indexOf(record));
    queue.length = 0;
    inFlight = 0;
    options.onIdle();
  };
  const closeNow = () => {
    if (fd !== undefined && !writing) closeSync(fd);
    fd = undefined;
  };
  /** Joins a small chunk to the last record while that still waits to be written. */
  const joinLast = (chunk: OutputChunk): boolean => {
    const last = queue.at(-1);
    if (last?.bytes === undefined || queue.length < 2 || last.chunk.stream !== chunk.stream) return false;
    if (last.length + chunk.bytes.length > JOIN_BELOW_BYTES) return false;
    last.bytes = Buffer.concat([last.bytes, chunk.bytes]);
    last.length += chunk.bytes.length;
    return true;
  };

  return {
    get busy() {
      return inFlight > MAX_SPILL_IN_FLIGHT_BYTES;
    },
    append(chunk) {
      if (refused || closed) return;
      if (size + chunk.bytes.length > options.maxBytes) {
        refused = true;
        return;
      }
      if (fd === undefined && open() === undefined) return;
      if (!joinLast(chunk)) {
        const { bytes, ...rest } = chunk;
        const record = { chunk: rest, position: size, length: bytes.length, bytes };
        records.push(record);
        queue.push(record);
      }
      size += chunk.bytes.length;
      inFlight += chunk.bytes.length;
      pump();
    },
    async read(from, to) {
      const record = records[findRecord(records, from)];
      if (record === undefined || record.chunk.offset >= to || fd === undefined) return [];
      const bytes = record.bytes ?? (await readWhole(fd, record.length, record.position));
      return bytes === undefined ? [] : [{ ...record.chunk, bytes }];
    },
    close() {
      closed = true;
      queue.splice(1);
      closeNow();
    },
  };
}

function findRecord(records: readonly Record[], offset: number): number {
  let low = 0;
  let high = records.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const { chunk, length } = records[middle]!;
    if (chunk.offset + length <= offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function writeWhole(fd: number, bytes: Buffer, position: number, done: (error: Error | null) => void): void {
  write(fd, bytes, 0, bytes.length, position, (error, written) => {
    if (error !== null || written === bytes.length) return done(error);
    writeWhole(fd, bytes.subarray(written), position + written, done);
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
