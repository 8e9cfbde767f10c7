import { type FileHandle, lstat, mkdir, rename } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { type FileLockOptions, openOutputFile, withFileLock } from "@codex/file-lock";
import type { AuditSink } from "./audit-log.js";
import { type ChainHead, encodeRecords, type TimedEvent } from "./chain.js";
import { findTail, type Tail } from "./file-tail.js";
import { readHead, writeHead } from "./head-file.js";
import { DEFAULT_AUDIT_MAX_BYTES } from "./limits.js";

/** Options of `createFileSink`. */
export interface FileSinkOptions {
  /** Size at which the file is rotated: renamed to its name and the number of its last record. Default 64 MiB. */
  maxBytes?: number;
  /** Sync to disk after each write. Default false: then a crash of the host can lose the last records. */
  sync?: boolean;
  lock?: FileLockOptions;
}

/**
 * Appends to a file of mode 600, which is created with its directory when it is missing. Several processes may append
 * concurrently: a lock file next to it keeps one chain. The head of the chain is also saved next to it (`.head`), so that the loss
 * of the file's end is reported by its next record.
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

/** Adds the name of the file to the message, which errors of writes lack. */
function nameFile(file: string, error: unknown): unknown {
  if (!(error instanceof Error) || error.message.includes(file)) return error;
  return new Error(`${file}: ${error.message}`, { cause: error });
}

interface SinkState {
  /** The state in which this process left the file. While it is unchanged, nothing has to be read. */
  known: { ino: number; size: number; head: ChainHead } | undefined;
}

async function append(
  file: string,
  events: readonly TimedEvent[],
  { maxBytes = DEFAULT_AUDIT_MAX_BYTES, sync = false }: FileSinkOptions,
  state: SinkState,
): Promise<void> {
  const handle = await openOutputFile(file, { flags: "a+", mode: 0o600 });
  let next: FileHandle | undefined;
  try {
    const end = await findEnd(handle, file, state, events[0]?.at ?? Date.now());
    const encoded = encodeRecords(end.head, [...end.markers, ...events]);
    const bytes = Buffer.from(end.separator + encoded.text);
    // Markers belong in the file that they concern, so it is not rotated now.
    if (end.size > 0 && end.markers.length === 0 && end.size + bytes.length > maxBytes) {
      const aside = await freeName(file, end.head.seq);
      await rename(file, aside);
      next = await openOutputFile(file, { flags: "ax", mode: 0o600 });
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
  /** The line end that an incomplete last line lacks. */
  separator: string;
}

async function findEnd(handle: FileHandle, file: string, { known }: SinkState, at: number): Promise<End> {
  const { ino, size, mode } = await handle.stat();
  if ((mode & 0o077) !== 0 && (mode & 0o170000) === 0o100000) await handle.chmod(0o600);
  if (known?.ino === ino && known.size === size) return { size, head: known.head, markers: [], separator: "" };
  const tail = await findTail(handle, file, size);
  const saved = await readHead(file);
  const markers: TimedEvent[] = [];
  if (tail.torn !== undefined) markers.push({ at, event: { type: "torn", ...tail.torn } });
  if (saved !== undefined && isBehind(tail, saved)) {
    markers.push({ at, event: { type: "gap", lastSeq: saved.seq, lastHash: saved.hash } });
  }
  return { size, head: tail.head, markers, separator: tail.isOpen ? "\n" : "" };
}

/** An older saved head is not a problem: its process ended before it saved the latest one. */
const isBehind = ({ head }: Tail, saved: ChainHead) =>
  head.seq < saved.seq || (head.seq === saved.seq && head.hash !== saved.hash);

/** A name with the number of the last record; an existing file is not replaced. */
async function freeName(file: string, seq: number): Promise<string> {
  for (let count = 0; ; count++) {
    const name = count === 0 ? `${file}.${seq}` : `${file}.${seq}-${count}`;
    if (!(await exists(name))) return name;
  }
}

const exists = (path: string) =>
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
    // Undo a partial write; if that fails, too, a torn line is left.
    await handle.truncate(size).catch(() => {});
    throw error;
  }
  await writeHead(file, head);
  const { ino } = await handle.stat();
  state.known = { ino, size: size + bytes.length, head };
}
