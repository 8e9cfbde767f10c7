import type { FileHandle } from "node:fs/promises";
import type { WriteFileParams } from "@codex/exec-server-protocol";
import { about } from "../errors.js";
import { openForWriting, writeAll } from "../paths/open-file.js";

/** Makes or overwrites a file in place: links to it stay what they are. */
export function writeWholeFile({ path, dataBase64, followSymlinks }: WriteFileParams): Promise<void> {
  return about(path, async () => {
    const file = await openForWriting(path, followSymlinks);
    try {
      const info = await file.stat();
      if (info.isFile()) await overwrite(file, dataBase64, info.size);
      else await writeAll(file, dataBase64, 0);
    } finally {
      await file.close();
    }
  });
}

/**
 * What makes the file longer is written first: a disk that has no room for it has taken nothing then, and the old content
 * stays. Except on file systems that copy on write, the rest takes no room.
 */
async function overwrite(file: FileHandle, bytes: Uint8Array, oldSize: number): Promise<void> {
  try {
    await writeAll(file, bytes.subarray(oldSize), oldSize);
  } catch (error) {
    await file.truncate(oldSize).catch(() => {}); // what cannot be cut cannot have grown
    throw error;
  }
  await writeAll(file, bytes.subarray(0, oldSize), 0);
  if (bytes.length < oldSize) await file.truncate(bytes.length);
}
