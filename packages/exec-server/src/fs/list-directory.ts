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
  // Names are bytes: Node gives them with this encoding, which its types for `opendir` do not know.
  const options = { encoding: "buffer", bufferSize: BATCH_ENTRIES } as unknown as OpenDirOptions;
  for await (const entry of (await opendir(path, options)) as AsyncIterable<Dirent<Buffer>>) {
    yield { name: entry.name, kind: kindOf(entry) };
  }
}

function kindOf(entry: Dirent<Buffer>): ListedEntry["kind"] {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "symlink" : "other";
}
