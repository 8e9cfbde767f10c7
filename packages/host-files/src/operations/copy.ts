import { constants } from "node:fs";
import { copyFile, lstat, mkdir, readlink, stat, symlink } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import type { CopyParams } from "@codex/exec-server-protocol";
import { displayPath, type HostPath, isBelow, isSamePath, joinPath, parentPath } from "@codex/exec-server-protocol";
import { invalidRequest, systemError, toRpcError, withErrorPath } from "../errors.js";
import { openForReading } from "../paths/open-file.js";
import { refuseOwnDirectory } from "../paths/own-process.js";
import { realPath, resolveMissing } from "../paths/resolve-target.js";
import { makeDirectories } from "./directories.js";
import { listDirectory } from "./list-directory.js";

/**
 * Copies a file with its permissions, a symbolic link as a link, or a directory into a new or existing one. FIFOs,
 * sockets and devices inside a directory are skipped, as Codex does. Copying a file onto itself changes nothing.
 */
export async function copy({ sourcePath, destinationPath, recursive }: CopyParams, signal: AbortSignal): Promise<void> {
  const source = await withErrorPath(sourcePath, () => lstat(sourcePath));
  if (source.isDirectory()) {
    if (!recursive) throw invalidRequest("fs/copy requires recursive: true when sourcePath is a directory");
    await refuseCopyIntoItself(sourcePath, destinationPath);
    const parent = parentPath(destinationPath);
    await withErrorPath(parent, () => makeDirectories(parent));
    await copyDirectory(sourcePath, destinationPath, signal);
  } else if (source.isSymbolicLink()) {
    await copyLink(sourcePath, destinationPath);
  } else if (source.isFile()) {
    await copyContent(sourcePath, destinationPath);
  } else {
    throw invalidRequest("fs/copy only supports regular files, directories, and symlinks");
  }
}

async function refuseCopyIntoItself(source: HostPath, destination: HostPath): Promise<void> {
  const from = await withErrorPath(source, () => realPath(source));
  const to = await withErrorPath(destination, () => resolveMissing(destination));
  if (isSamePath(from, to) || isBelow(to, from)) {
    throw invalidRequest("fs/copy cannot copy a directory to itself or one of its descendants");
  }
}

async function copyDirectory(source: HostPath, destination: HostPath, signal: AbortSignal): Promise<void> {
  const own = await withErrorPath(source, () => stat(source));
  await withErrorPath(source, () => refuseOwnDirectory(source, own));
  await withErrorPath(destination, () => makeDirectory(destination, own.mode));
  for await (const { name, kind } of listDirectory(source)) {
    signal.throwIfAborted();
    const [from, to] = [joinPath(source, name), joinPath(destination, name)];
    if (kind === "directory") await copyDirectory(from, to, signal);
    else if (kind === "symlink") await copyLink(from, to);
    else if (kind === "file") await copyContent(from, to);
  }
}

/** Not more accessible than the source, and writable to us while it is filled. */
async function makeDirectory(path: HostPath, mode: number): Promise<void> {
  try {
    await mkdir(path, { mode: (mode & 0o777) | 0o700 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST" || !(await stat(path)).isDirectory()) throw error;
  }
}

async function copyLink(source: HostPath, destination: HostPath): Promise<void> {
  const target = await withErrorPath(source, () => readlink(source, { encoding: "buffer" }));
  await withErrorPath(destination, () => symlink(target, destination));
}

async function copyContent(source: HostPath, destination: HostPath): Promise<void> {
  const existing = await stat(destination).catch(() => undefined);
  if (existing?.isDirectory()) throw toRpcError(systemError("EISDIR"), destination);
  if (existing !== undefined && !existing.isFile()) {
    throw invalidRequest(`fs/copy destination \`${displayPath(destination)}\` is not a file`);
  }
  if (existing?.nlink === 0) throw toRpcError(systemError("EACCES"), destination); // /proc/…/fd of a deleted file
  if (existing !== undefined) {
    const { dev, ino } = await withErrorPath(source, () => stat(source));
    if (existing.dev === dev && existing.ino === ino) return;
  }
  // The error does not say which of the two paths failed.
  const both = `${displayPath(source)} -> ${displayPath(destination)}`;
  await withErrorPath(both, async () => {
    const file = await openForReading(source, true);
    try {
      // The file that was checked, even if its name now refers to another file.
      const opened = process.platform === "linux" ? `/proc/self/fd/${file.fd}` : source;
      await copyFile(opened, destination, constants.COPYFILE_FICLONE);
    } finally {
      await file.close();
    }
  });
}
