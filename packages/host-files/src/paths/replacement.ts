import type { Stats } from "node:fs";
import { access, constants, type FileHandle, stat } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import type { HostPath } from "@codex/exec-server-protocol";
import { notAFile, systemError, tornError } from "../errors.js";
import { openExisting, openForWriting } from "./open-file.js";
import { contentOfFile, overwrite } from "./overwrite.js";
import { resolveTarget } from "./resolve-target.js";
import { ANYBODY, createSibling, OWNER_ALONE, type Sibling, tryCreateSibling } from "./sibling.js";

/** New content of a file while it is being written. The owner ends it with `commit` or `abort`. */
export interface Replacement {
  readonly file: FileHandle;
  /** The file to replace, links resolved. */
  readonly target: HostPath;
  /** Where the new content is until `commit`. */
  readonly contentPath: HostPath;
  /** Replaces the old content. The replacement cannot be used afterwards, even if this rejects. */
  commit(): Promise<void>;
  /** Keeps the old content. Idempotent; never rejects. */
  abort(): Promise<void>;
}

/**
 * Starts to replace a file, which need not exist. The content is written to a sibling, and copied into the file once it is whole,
 * so that the file stays the same one: links, owner, permissions, attributes. In a directory that takes no new files it is truncated
 * and written in place.
 */
export async function createReplacement(path: HostPath): Promise<Replacement> {
  const target = await resolveTarget(path);
  const existing = await statForReplacing(target);
  const sibling =
    existing === undefined ? await createSibling(target, ANYBODY) : await tryCreateSibling(target, OWNER_ALONE);
  if (sibling === undefined) return replaceInPlace(target);
  const commit = () => (existing === undefined ? sibling.become(target) : copyInto(target, sibling, existing));
  return { file: sibling.file, target, contentPath: sibling.path, commit, abort: sibling.discard };
}

/** @throws for anything but a regular file, and for a file that this process may not write */
async function statForReplacing(target: HostPath): Promise<Stats | undefined> {
  let existing: Stats;
  try {
    existing = await stat(target);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
  if (existing.isDirectory()) throw systemError("EISDIR");
  if (!existing.isFile()) throw notAFile(target);
  await access(target, constants.W_OK);
  return existing;
}

async function replaceInPlace(target: HostPath): Promise<Replacement> {
  const file = await openForWriting(target, true);
  if ((await file.stat()).isFile()) await file.truncate(0);
  const close = () => file.close();
  return { file, target, contentPath: target, commit: close, abort: () => close().catch(() => {}) };
}

/** A file that was removed in the meantime is created again, no more accessible than it was. */
async function copyInto(target: HostPath, sibling: Sibling, existing: Stats): Promise<void> {
  const file = await openExisting(target).catch(async (error: unknown) => {
    await sibling.discard();
    throw error;
  });
  if (file === undefined) {
    await sibling.file.chmod(existing.mode & 0o777);
    return sibling.become(target);
  }
  try {
    await overwrite(file, await contentOfFile(sibling.file), async (error) => {
      await sibling.leave();
      throw tornError(error, target, { name: "new", path: sibling.path });
    });
  } finally {
    await sibling.discard();
    await file.close();
  }
}
