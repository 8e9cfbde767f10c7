import { type FileHandle, lstat, mkdir, open, rename } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type FileLockOptions, withFileLock } from "@codex/file-lock";
import type { AuditSink } from "./audit-log.js";
import { type ChainHead, encodeRecords, type TimedEvent } from "./chain.js";
import { findTail, type Tail } from "./file-tail.js";
import { readHead, writeHead } from "./head-file.js";
import { DEFAULT_AUDIT_MAX_BYTES } from "./limits.js";

/** Options of `createFileSink`. */
export interface FileSinkOptions {
  /** Size at which the file is set aside, under its name and the number of its last record. Default 64 MiB. */
  maxBytes?: number;
  /** Wait for the disk after each write; default no: then a crash of the host can cost the last records. */
  sync?: boolean;
  lock?: FileLockOptions;
}

/**
 * Appends to a file of mode 600, which is created when it is missing, with its directory. Several processes may do so at
 * once: a lock beside the file keeps one chain. What is known of the end is kept beside it, too (`.head`), so that a file
 * that lost its end says so with its next record.
 */
export function createFileSink(file: string, options: FileSinkOptions = {}): AuditSink {
  const state: SinkState = { known: undefined };
  return {
    append: async (events) => {
      try {
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await withFileLock(`${file}.lock`, options.lock ?? {}, () => append(file, events, options, state));
      } catch (error) {
        throw nameFile(file, error);
      }
    },
  };
}

/** Adds the name of the file, which errors of writes lack. */
function nameFile(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.message.includes(file)) return error;
  return new Error(`${file}: ${error.message}`, { cause: error });
}

interface SinkState {
  /** How this process left the file; while it is so, nothing has to be read. */
  known: { ino: number; size: number; head: ChainHead } | undefined;
}

async function append(
  file: string,
  events: readonly TimedEvent[],
  { maxBytes = DEFAULT_AUDIT_MAX_BYTES, sync = false }: FileSinkOptions,
  state: SinkState,
): Promise<void> {
  const handle = await open(file, "a+", 0o600);
  let next: FileHandle | undefined;
  try {
    const end = await findEnd(handle, file, state, events[0]?.at ?? Date.now());
    const encoded = encodeRecords(end.head, [...end.markers, ...events]);
    const bytes = Buffer.from(end.separator + encoded.text);
    // What has to be marked is marked where it is.
    if (end.size > 0 && end.markers.length === 0 && end.size + bytes.length > maxBytes) {
      const aside = await freeName(file, end.head.seq);
      await rename(file, aside);
      next = await open(file, "ax", 0o600);
      const rotated: TimedEvent = {
        at: events[0]?.at ?? Date.now(),
        event: { type: "rotated", file: basename(aside) },
      };
      const again = encodeRecords(end.head, [rotated, ...events]);
      await write(next, file, Buffer.from(again.text), { size: 0, head: again.head, sync }, state);
      return;
    }
    await write(handle, file, bytes, { size: end.size, head: encoded.head, sync }, state);
  } finally {
    await handle.close();
    await next?.close();
  }
}

interface End {
  size: number;
  head: ChainHead;
  markers: TimedEvent[];
  /** Ends a line that was cut short. */
  separator: string;
}

async function findEnd(handle: FileHandle, file: string, { known }: SinkState, at: number): Promise<End> {
  const { ino, size, mode } = await handle.stat();
  if ((mode & 0o077) !== 0 && (mode & 0o170000) === 0o100000) await handle.chmod(0o600);
  if (known?.ino === ino && known.size === size) return { size, head: known.head, markers: [], separator: "" };
  const tail = await findTail(handle, file, size);
  const noted = await readHead(file);
  const markers: TimedEvent[] = [];
  if (tail.torn !== undefined) markers.push({ at, event: { type: "torn", ...tail.torn } });
  if (noted !== undefined && isBehind(tail, noted)) {
    markers.push({ at, event: { type: "gap", lastSeq: noted.seq, lastHash: noted.hash } });
  }
  return { size, head: tail.head, markers, separator: tail.isOpen ? "\n" : "" };
}

/** A process that ended before it noted its last records leaves an older note; no record is lost. */
const isBehind = ({ head }: Tail, noted: ChainHead) =>
  head.seq < noted.seq || (head.seq === noted.seq && head.hash !== noted.hash);

/** Under the number of its last record; one that is there already is not replaced. */
async function freeName(file: string, seq: number): Promise<string> {
  for (let count = 0; ; count++) {
    const name = count === 0 ? `${file}.${seq}` : `${file}.${seq}-${count}`;
    if (!(await isThere(name))) return name;
  }
}

const isThere = (path: string) =>
  lstat(path).then(
    () => true,
    () => false,
  );

async function write(
  handle: FileHandle,
  file: string,
  bytes: Buffer,
  { size, head, sync }: { size: number; head: ChainHead; sync: boolean },
  state: SinkState,
): Promise<void> {
  state.known = undefined;
  try {
    for (let done = 0; done < bytes.length; ) done += (await handle.write(bytes, done)).bytesWritten;
    if (sync) await handle.datasync();
  } catch (error) {
    // What was written of it is taken back; where that fails, too, it is a torn line.
    await handle.truncate(size).catch(() => {});
    throw error;
  }
  await writeHead(file, head);
  const { ino } = await handle.stat();
  state.known = { ino, size: size + bytes.length, head };
}
