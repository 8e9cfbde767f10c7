import { closeSync, constants, fstatSync, open as openCallback, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { promisify } from "node:util";
import { errnoOf } from "@codex/exec-backend";
import type { HostPath } from "@codex/exec-server-protocol";
import { notAFile } from "../errors.js";
import { withoutLinks } from "./no-follow.js";
import { refuseOwnFile } from "./own-process.js";

/** With these an open does not block on a FIFO, and a terminal does not become the controlling one. */
const SAFE = constants.O_NONBLOCK | constants.O_NOCTTY;

/** Opens a regular file for reading; the caller closes it. @throws RpcError for anything else */
export async function openForReading(path: HostPath, followSymlinks: boolean): Promise<FileHandle> {
  return openFile(path, followSymlinks, constants.O_RDONLY, (info) => info.isFile());
}

/**
 * Opens a file for writing without truncating it, and creates it if missing; the caller closes it. Devices such as /dev/null
 * are accepted, FIFOs are not: they would block the writer.
 */
export async function openForWriting(path: HostPath, followSymlinks: boolean): Promise<FileHandle> {
  const flags = constants.O_WRONLY | constants.O_CREAT;
  return openFile(path, followSymlinks, flags, (info) => !info.isFIFO());
}

/** Like `openForWriting`, for a path without links; undefined for a missing file. */
export async function openExisting(path: HostPath): Promise<FileHandle | undefined> {
  try {
    return await openFile(path, true, constants.O_WRONLY, (info) => !info.isFIFO());
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Opens a regular file for reading, as a bare descriptor; the caller closes it. @throws RpcError for anything else */
export async function openDescriptor(path: HostPath, followSymlinks: boolean): Promise<number> {
  const fd = followSymlinks
    ? await openLater(path, constants.O_RDONLY | SAFE)
    : await withoutLinks(path, (entry) => openLater(entry, constants.O_RDONLY | SAFE | constants.O_NOFOLLOW));
  try {
    const info = fstatSync(fd);
    if (!info.isFile()) throw notAFile(path);
    await refuseOwnFile(fd, info);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

const openLater = promisify(openCallback) as (path: HostPath, flags: number) => Promise<number>;

async function openFile(
  path: HostPath,
  followSymlinks: boolean,
  flags: number,
  accepts: (info: Stats) => boolean,
): Promise<FileHandle> {
  const file = followSymlinks
    ? await open(path, flags | SAFE)
    : await withoutLinks(path, (entry) => open(entry, flags | SAFE | constants.O_NOFOLLOW));
  try {
    const info = await file.stat();
    if (!accepts(info)) throw notAFile(path);
    await refuseOwnFile(file.fd, info);
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
