import type { FileHandle } from "node:fs/promises";
import { COPY_STEP_BYTES } from "../limits.js";
import { writeAll } from "./open-file.js";

/** What a file is to contain. */
export interface Content {
  /** Bytes. */
  readonly size: number;
  /** Writes the bytes of `[from, to)` to the same place of a file. */
  write(into: FileHandle, from: number, to: number): Promise<void>;
}

export const contentOfBytes = (bytes: Uint8Array): Content => ({
  size: bytes.length,
  write: (into, from, to) => writeAll(into, bytes.subarray(from, to), from),
});

/** The current content of an open file, which the caller closes. */
export async function contentOfFile(file: FileHandle): Promise<Content> {
  const { size } = await file.stat();
  return { size, write: (into, from, to) => copyRange(file, into, { from, to }) };
}

/** Copies bytes to the same place of another file. `onBytes` gets each part. Ends early where the source does. */
export async function copyRange(
  source: FileHandle,
  into: FileHandle | undefined,
  { from, to, onBytes }: { from: number; to: number; onBytes?: (bytes: Uint8Array) => void },
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(COPY_STEP_BYTES, to - from)));
  for (let at = from; at < to; ) {
    const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, to - at), at);
    if (bytesRead === 0) return;
    const bytes = buffer.subarray(0, bytesRead);
    onBytes?.(bytes);
    if (into !== undefined) await writeAll(into, bytes, at);
    at += bytesRead;
  }
}

/**
 * Replaces the content of an open file in place. The part beyond the old size is written first: if the disk is full, the old
 * content is still intact. The rest overwrites blocks in place, which needs no space except on copy-on-write file systems; if
 * it fails, the file has a part of each content, and `onTorn` is called before this rejects.
 */
export async function overwrite(
  file: FileHandle,
  content: Content,
  onTorn: (error: unknown) => Promise<void> = async () => {},
): Promise<void> {
  const { size: oldSize } = await file.stat();
  try {
    if (content.size > oldSize) await content.write(file, oldSize, content.size);
  } catch (error) {
    await file.truncate(oldSize).catch(() => {}); // a file that cannot be truncated has not grown
    throw error;
  }
  try {
    await content.write(file, 0, Math.min(oldSize, content.size));
    if (content.size < oldSize) await file.truncate(content.size);
  } catch (error) {
    await onTorn(error);
    throw error;
  }
}
