import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { access, copyFile, type FileHandle, open, rename, stat, unlink } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import { type HostPath, joinPath, parentPath } from "@codex/exec-server-protocol";
import { notAFile, systemError } from "../errors.js";
import { openForWriting } from "./open-file.js";
import { resolveTarget } from "./resolve-target.js";

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
 * Starts to replace a file, which need not exist. The content is written to a sibling file that is renamed over it, with
 * permissions and owner kept. Where only writing in place preserves the file (hard links, another owner, a directory that
 * takes no new files), it is truncated and written in place.
 */
export async function createReplacement(path: HostPath): Promise<Replacement> {
  const target = await resolveTarget(path);
  return (await createSibling(target, await statForReplacing(target))) ?? replaceInPlace(target);
}

/** Like `createReplacement`; undefined for a file that only writing in place preserves, and for devices. */
export async function createAtomicReplacement(path: HostPath): Promise<Replacement | undefined> {
  const target = await resolveTarget(path);
  const existing = await stat(target).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (existing?.isFile() === false) return undefined;
  if (existing !== undefined) await access(target, constants.W_OK);
  return createSibling(target, existing);
}

async function createSibling(target: HostPath, existing: Stats | undefined): Promise<Replacement | undefined> {
  if (existing !== undefined && existing.nlink !== 1) return undefined;
  try {
    return await replaceBeside(target, existing);
  } catch (error) {
    if (existing === undefined || !MEANS_IN_PLACE.has(errnoOf(error) ?? "")) throw error;
    return undefined;
  }
}

/** ENOENT: directories of /proc take no new files. ENAMETOOLONG: the sibling's name may be the longer one. */
const MEANS_IN_PLACE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENAMETOOLONG"]);

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

async function replaceBeside(target: HostPath, existing: Stats | undefined): Promise<Replacement> {
  const contentPath = joinPath(parentPath(target), `.codex-replace-${randomBytes(8).toString("hex")}`);
  // Never more accessible than the file it replaces.
  const mode = existing === undefined ? ANYBODY : OWNER_ALONE;
  const file = await open(contentPath, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  const abort = async () => {
    await file.close().catch(() => {});
    await unlink(contentPath).catch(() => {});
  };
  const commit = async () => {
    let isMoved = false;
    try {
      await file.close();
      isMoved = await putInPlace(contentPath, target);
    } finally {
      if (!isMoved) await unlink(contentPath).catch(() => {});
    }
  };
  try {
    if (existing !== undefined) await keepOwnership(file, existing);
    return { file, target, contentPath, commit, abort };
  } catch (error) {
    await abort();
    throw error;
  }
}

const MEANS_COPY: ReadonlySet<string> = new Set(["EBUSY", "EACCES", "EPERM"]);

/** Minus the umask. */
const ANYBODY = 0o666;
const OWNER_ALONE = 0o600;

async function keepOwnership(file: FileHandle, { uid, gid, mode }: Stats): Promise<void> {
  const own = await file.stat();
  if (own.uid !== uid || own.gid !== gid) await file.chown(uid, gid);
  await file.chmod(mode & 0o7777);
}

/** A mount point cannot be renamed over, nor another's file in a sticky directory: the content is copied into it. False: copied. */
async function putInPlace(contentPath: HostPath, target: HostPath): Promise<boolean> {
  try {
    await rename(contentPath, target);
    return true;
  } catch (error) {
    if (!MEANS_COPY.has(errnoOf(error) ?? "")) throw error;
    await copyFile(contentPath, target);
    return false;
  }
}
