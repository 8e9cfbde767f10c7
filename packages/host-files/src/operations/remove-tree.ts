import { rmdir, unlink } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import { type HostPath, joinPath, parentPath } from "@codex/exec-server-protocol";
import { systemError } from "../errors.js";
import { MAX_LISTED_SUBDIRECTORIES, MAX_REMOVE_PASSES } from "../limits.js";
import { type HeldDirectory, holdDirectory } from "../paths/no-follow.js";
import { listDirectory } from "./list-directory.js";

/**
 * Removes a directory recursively. On Linux the directory that is being emptied is held open, so that a link that replaces
 * it is not followed. At most three descriptors are open, whatever the depth of the tree.
 */
export async function removeTree(path: HostPath, signal: AbortSignal): Promise<void> {
  for (let pass = 1; ; pass += 1) {
    await emptyTree(path, signal);
    try {
      return await rmdir(path);
    } catch (error) {
      if (errnoOf(error) !== "ENOTEMPTY" || pass === MAX_REMOVE_PASSES) throw error;
    }
  }
}

/** A directory on the current path whose subdirectories are being removed. */
interface Level {
  /** Its name in its parent; undefined for the root. */
  name: Buffer | undefined;
  identity: string;
  /** Subdirectories to remove next. */
  pending: Buffer[];
  /** Times that one of its subdirectories was not empty after it had been emptied. */
  passes: number;
}

async function emptyTree(path: HostPath, signal: AbortSignal): Promise<void> {
  let here = await holdDirectory(path);
  const levels: Level[] = [{ name: undefined, identity: here.identity, pending: [], passes: 0 }];
  try {
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      signal.throwIfAborted();
      const name = level.pending.pop();
      if (name !== undefined) {
        const below = await enter(here, name, level, signal);
        if (below === undefined) continue;
        await here.close();
        here = below.held;
        levels.push(below.level);
        continue;
      }
      level.pending = await removeFiles(here.path, signal);
      if (level.pending.length > 0) continue;
      levels.pop();
      const above = levels.at(-1);
      if (above === undefined || level.name === undefined) return;
      const held = await holdAbove(here, above.identity);
      await here.close();
      here = held;
      await removeEmpty(here, level.name, above);
    }
  } finally {
    await here.close();
  }
}

/** Removes the directory `name` if it has no subdirectories; otherwise returns it, held open, to be emptied. */
async function enter(
  here: HeldDirectory,
  name: Buffer,
  level: Level,
  signal: AbortSignal,
): Promise<{ held: HeldDirectory; level: Level } | undefined> {
  const held = await holdDirectory(joinPath(here.path, name)).catch(ignoreMissing);
  if (held === undefined) return undefined;
  let isKept = false;
  try {
    const pending = await removeFiles(held.path, signal);
    isKept = pending.length > 0;
    if (isKept) return { held, level: { name, identity: held.identity, pending, passes: 0 } };
  } finally {
    if (!isKept) await held.close();
  }
  await removeEmpty(here, name, level);
  return undefined;
}

/** Entries may have been added concurrently, or the listing skipped one: the directory is then queued again. */
async function removeEmpty(here: HeldDirectory, name: Buffer, level: Level): Promise<void> {
  try {
    await rmdir(joinPath(here.path, name)).catch(ignoreMissing);
  } catch (error) {
    level.passes += 1;
    if (errnoOf(error) !== "ENOTEMPTY" || level.passes >= MAX_REMOVE_PASSES) throw error;
    level.pending.push(name);
  }
}

/** @throws EBUSY when the directory was moved in the meantime: its new parent must not be removed */
async function holdAbove({ path }: HeldDirectory, identity: string): Promise<HeldDirectory> {
  const above = await holdDirectory(process.platform === "linux" ? joinBelow(path, "..") : parentPath(path));
  if (above.identity === identity) return above;
  await above.close();
  throw systemError("EBUSY");
}

/** Unlike `joinPath` it does not resolve `..`. */
const joinBelow = (path: HostPath, name: string): HostPath => `${path.toString()}/${name}`;

/** Concurrent deletions. */
const BATCH = 32;

/** Removes everything but directories and returns those, stopping at MAX_LISTED_SUBDIRECTORIES of them. */
async function removeFiles(directory: HostPath, signal: AbortSignal): Promise<Buffer[]> {
  const directories: Buffer[] = [];
  const batch: HostPath[] = [];
  for await (const { name, kind } of listDirectory(directory)) {
    signal.throwIfAborted();
    if (kind !== "directory") batch.push(joinPath(directory, name));
    else if (directories.push(name) === MAX_LISTED_SUBDIRECTORIES) break;
    if (batch.length >= BATCH) await unlinkAll(batch.splice(0));
  }
  await unlinkAll(batch);
  return directories;
}

/** Waits for all: the descriptor in their paths must stay open until the last has finished. */
async function unlinkAll(entries: readonly HostPath[]): Promise<void> {
  const results = await Promise.allSettled(entries.map((entry) => unlink(entry).catch(ignoreMissing)));
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

/** Ignores that another process removed the entry concurrently. */
function ignoreMissing(error: unknown): undefined {
  if (errnoOf(error) !== "ENOENT") throw error;
}
