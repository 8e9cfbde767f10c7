import { closeSync, constants, fstatSync, open as openCallback } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { promisify } from "node:util";
import type { HostPath } from "../protocol/host-path.js";
import { notAFile } from "./errors.js";
import { withoutLinks } from "./no-follow.js";

/** Neither a fifo without a writer nor a terminal holds up an open with these. */
const SAFE = constants.O_NONBLOCK | constants.O_NOCTTY;

/** A regular file for reading; the caller closes it. @throws RpcError for anything else */
export async function openForReading(path: HostPath, followSymlinks: boolean): Promise<FileHandle> {
  return openFile(path, followSymlinks, constants.O_RDONLY, (kind) => kind.isFile());
}

/**
 * A file for writing, made or emptied; the caller closes it. Devices such as /dev/null are taken, a fifo is not: it
 * would hold up the writer.
 */
export async function openForWriting(path: HostPath, followSymlinks: boolean): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
  return openFile(path, followSymlinks, flags, (kind) => !kind.isFIFO());
}

/** A regular file for reading, as a bare descriptor; the caller closes it. @throws RpcError for anything else */
export async function openDescriptor(path: HostPath, followSymlinks: boolean): Promise<number> {
  const fd = followSymlinks
    ? await openLater(path, constants.O_RDONLY | SAFE)
    : await withoutLinks(path, (entry) => openLater(entry, constants.O_RDONLY | SAFE | constants.O_NOFOLLOW));
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  throw notAFile(path);
}

const openLater = promisify(openCallback) as (path: HostPath, flags: number) => Promise<number>;

interface Kind {
  isFile(): boolean;
  isFIFO(): boolean;
}

async function openFile(
  path: HostPath,
  followSymlinks: boolean,
  flags: number,
  accepts: (kind: Kind) => boolean,
): Promise<FileHandle> {
  const file = followSymlinks
    ? await open(path, flags | SAFE)
    : await withoutLinks(path, (entry) => open(entry, flags | SAFE | constants.O_NOFOLLOW));
  try {
    if (!accepts(await file.stat())) throw notAFile(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Writes every byte. */
export async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length; ) {
    const step = await file.write(bytes, written, bytes.length - written, position + written);
    written += step.bytesWritten;
  }
}
