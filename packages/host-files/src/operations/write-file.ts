import type { FileHandle } from "node:fs/promises";
import type { WriteFileParams } from "@codex/exec-server-protocol";
import { withErrorPath } from "../errors.js";
import { openForWriting, writeAll } from "../paths/open-file.js";

/** Creates or overwrites a file in place, so that hard links keep sharing it. It gets `mode` once its content is there. */
export function writeWholeFile({ path, dataBase64, followSymlinks, mode }: WriteFileParams): Promise<void> {
  return withErrorPath(path, async () => {
    const file = await openForWriting(path, followSymlinks);
    try {
      const info = await file.stat();
      if (info.isFile()) await overwrite(file, dataBase64, info.size);
      else await writeAll(file, dataBase64, 0);
      if (mode !== undefined && info.isFile()) await file.chmod(mode);
    } finally {
      await file.close();
    }
  });
}

/**
 * The part beyond the old size is written first: if the disk is full, the old content is still intact. The rest overwrites
 * blocks in place, which needs no space except on copy-on-write file systems.
 */
async function overwrite(file: FileHandle, bytes: Uint8Array, oldSize: number): Promise<void> {
  try {
    await writeAll(file, bytes.subarray(oldSize), oldSize);
  } catch (error) {
    await file.truncate(oldSize).catch(() => {}); // a file that cannot be truncated has not grown
    throw error;
  }
  await writeAll(file, bytes.subarray(0, oldSize), 0);
  if (bytes.length < oldSize) await file.truncate(bytes.length);
}
