import type { Dirent } from "node:fs";
import { opendir } from "node:fs/promises";
import type { HostPath } from "@codex/exec-server-protocol";

export interface ListedEntry {
  name: Buffer;
  kind: "file" | "directory" | "symlink" | "other";
}

/** Entries per batch. */
const BATCH_ENTRIES = 512;

/** The entries of a directory in directory order, read in batches so that memory does not grow with its size. */
export async function* listDirectory(path: HostPath): AsyncGenerator<ListedEntry> {
  for await (const batch of listBatches(path)) yield* batch;
}

/** The same in batches of `BATCH_ENTRIES`, which saves a promise per entry; the last batch is shorter. */
export async function* listBatches(path: HostPath): AsyncGenerator<ListedEntry[]> {
  const directory = await openDirectory(path, { encoding: "buffer", bufferSize: BATCH_ENTRIES });
  try {
    for (let batch = await readBatch(directory); batch.length > 0; ) {
      yield batch;
      batch = batch.length < BATCH_ENTRIES ? [] : await readBatch(directory);
    }
  } finally {
    await directory.close();
  }
}

/**
 * The next entries, fewer than BATCH_ENTRIES only at the end. Never read synchronously: most entries are buffered by Node,
 * but the others would block the event loop on a mount that hangs.
 */
function readBatch(directory: Directory): Promise<ListedEntry[]> {
  return new Promise((resolve, reject) => {
    const batch: ListedEntry[] = [];
    const take = (error: Error | null, entry: Dirent<Buffer> | null) => {
      if (error !== null) return reject(error);
      if (entry !== null) batch.push(toListed(entry));
      if (entry === null || batch.length === BATCH_ENTRIES) return resolve(batch);
      directory.read(take);
    };
    directory.read(take);
  });
}

const toListed = (entry: Dirent<Buffer>): ListedEntry => ({ name: entry.name, kind: kindOf(entry) });

/** The part of `fs.Dir` used here. */
interface Directory {
  read(then: (error: Error | null, entry: Dirent<Buffer> | null) => void): void;
  close(): Promise<void>;
}

/** Names are bytes with this encoding, which the types of `opendir` do not have. */
const openDirectory = opendir as unknown as (
  path: HostPath,
  options: { encoding: "buffer"; bufferSize: number },
) => Promise<Directory>;

function kindOf(entry: Dirent<Buffer>): ListedEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : "other";
}
