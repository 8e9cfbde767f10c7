import type { FileHandle } from "node:fs/promises";
import type { WriteFileParams } from "@codex/exec-server-protocol";
import { withErrorPath } from "../errors.js";
import { openForWriting, writeAll } from "../paths/open-file.js";
import { createAtomicReplacement, type Replacement } from "../paths/replacement.js";

/**
 * Creates or overwrites a file in place, so that hard links keep sharing it, or with `atomic` by a sibling file that is renamed over
 * it, unless only writing in place preserves it. It gets `mode` once its content is there.
 */
export function writeWholeFile({ path, dataBase64, followSymlinks, mode, atomic }: WriteFileParams): Promise<void> {
  return withErrorPath(path, async () => {
    if (atomic === true && followSymlinks) {
      const replacement = await createAtomicReplacement(path);
      if (replacement !== undefined) return replaceWhole(replacement, dataBase64, mode);
    }
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

async function replaceWhole(replacement: Replacement, bytes: Uint8Array, mode: number | undefined): Promise<void> {
  try {
    await writeAll(replacement.file, bytes, 0);
    if (mode !== undefined) await replacement.file.chmod(mode);
  } catch (error) {
    await replacement.abort();
    throw error;
  }
  await replacement.commit();
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
