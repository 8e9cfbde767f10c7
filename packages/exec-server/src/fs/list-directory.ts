import type { Dirent, OpenDirOptions } from "node:fs";
import { opendir } from "node:fs/promises";
import type { HostPath } from "../protocol/host-path.js";

export interface ListedEntry {
  name: Buffer;
  kind: "file" | "directory" | "symlink" | "other";
}

/** Entries read from the system at once. */
const BATCH_ENTRIES = 512;

/** The entries of a directory in its own order, a batch at a time, so that its size is no matter. */
export async function* listDirectory(path: HostPath): AsyncGenerator<ListedEntry> {
  for await (const batch of listBatches(path)) yield* batch;
}

/** The same, for who has nothing to wait for between two entries of a batch. */
export async function* listBatches(path: HostPath): AsyncGenerator<ListedEntry[]> {
  // Names are bytes: Node gives them with this encoding, which its types for `opendir` do not know.
  const options = { encoding: "buffer", bufferSize: BATCH_ENTRIES } as unknown as OpenDirOptions;
  const directory = (await opendir(path, options)) as unknown as Directory;
  try {
    // The first of a batch is waited for; with it the others have come.
    for (let first = await directory.read(); first !== null; first = await directory.read()) {
      const batch = [toListed(first)];
      while (batch.length < BATCH_ENTRIES) {
        const entry = directory.readSync();
        if (entry === null) break;
        batch.push(toListed(entry));
      }
      yield batch;
    }
  } finally {
    await directory.close();
  }
}

const toListed = (entry: Dirent<Buffer>): ListedEntry => ({ name: entry.name, kind: kindOf(entry) });

/** What is used of `fs.Dir`, whose types know names as text only. */
interface Directory {
  read(): Promise<Dirent<Buffer> | null>;
  readSync(): Dirent<Buffer> | null;
  close(): Promise<void>;
}

function kindOf(entry: Dirent<Buffer>): ListedEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : "other";
}
