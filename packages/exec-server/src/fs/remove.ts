import { lstat, rmdir, unlink } from "node:fs/promises";
import { RpcError } from "@codex/channel";
import { errnoOf } from "../process/errors.js";
import type { RemoveParams } from "../protocol/fs.js";
import { displayPath, type HostPath, joinPath } from "../protocol/host-path.js";
import { ERROR_CODES } from "../protocol/methods.js";
import { about, invalidRequest } from "./errors.js";
import { listDirectory } from "./list-directory.js";
import { withDirectory, withoutLinks } from "./no-follow.js";

/** Removes a file, a link (never what it leads to) or a directory. */
export function remove(params: RemoveParams, signal: AbortSignal): Promise<void> {
  const { path, recursive, force, followSymlinks } = params;
  return about(path, async () => {
    if (!followSymlinks && recursive) {
      throw new RpcError(ERROR_CODES.internal, "recursive no-follow removal is unsupported");
    }
    try {
      if (followSymlinks) await removeEntry(path, recursive, signal);
      else await withoutLinks(path, (entry) => removeUnlessLink(entry, path));
    } catch (error) {
      if (!force || errnoOf(error) !== "ENOENT") throw error;
    }
  });
}

async function removeUnlessLink(entry: HostPath, path: HostPath): Promise<void> {
  const own = await lstat(entry);
  if (own.isSymbolicLink()) throw invalidRequest(`path contains a symbolic link: ${displayPath(path)}`);
  await (own.isDirectory() ? rmdir(entry) : unlink(entry));
}

async function removeEntry(path: HostPath, recursive: boolean, signal: AbortSignal): Promise<void> {
  if (!(await lstat(path)).isDirectory()) return unlink(path);
  if (!recursive) return rmdir(path);
  await removeTree(path, signal);
}

/** Deletions under way at once. */
const BATCH = 32;

/** Times a directory is listed anew when something was put into it meanwhile, or its listing skipped an entry. */
const MAX_PASSES = 8;

/** Directories are held open while they are emptied: a link put in the place of one is not followed. */
async function removeTree(path: HostPath, signal: AbortSignal): Promise<void> {
  for (let pass = 1; ; pass += 1) {
    await withDirectory(path, (directory) => emptyDirectory(directory, signal));
    try {
      return await rmdir(path);
    } catch (error) {
      if (errnoOf(error) !== "ENOTEMPTY" || pass === MAX_PASSES) throw error;
    }
  }
}

async function emptyDirectory(directory: HostPath, signal: AbortSignal): Promise<void> {
  const batch: HostPath[] = [];
  for await (const { name, kind } of listDirectory(directory)) {
    signal.throwIfAborted();
    const entry = joinPath(directory, name);
    if (kind === "directory") await removeTree(entry, signal).catch(ignoreMissing);
    else batch.push(entry);
    if (batch.length >= BATCH) await unlinkAll(batch.splice(0));
  }
  await unlinkAll(batch);
}

/** Waits for every one: the descriptor in their paths must not be closed and taken by another directory meanwhile. */
async function unlinkAll(entries: readonly HostPath[]): Promise<void> {
  const results = await Promise.allSettled(entries.map((entry) => unlink(entry).catch(ignoreMissing)));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Somebody else was quicker. */
function ignoreMissing(error: unknown): void {
  if (errnoOf(error) !== "ENOENT") throw error;
}
