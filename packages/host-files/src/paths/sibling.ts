import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import { setTimeout as wait } from "node:timers/promises";
import { errnoOf } from "@codex/exec-backend";
import { baseName, type HostPath, joinPath, parentPath } from "@codex/exec-server-protocol";
import { systemError } from "../errors.js";
import { ABANDONED_SIBLING_MS, MAX_SIBLING_WAIT_MS, SIBLING_POLL_MS } from "../limits.js";

/** A temporary file next to a file, readable and writable. The owner ends it with one of its methods; the first one counts. */
export interface Sibling {
  readonly file: FileHandle;
  readonly path: HostPath;
  /** Closes and removes it. Never rejects. */
  discard(): Promise<void>;
  /** Closes it and leaves it there. Never rejects. */
  leave(): Promise<void>;
  /** Makes it the file `target`, which need not exist. `isNew`: it must not. Removed on failure. @throws EEXIST */
  become(target: HostPath, options?: { isNew?: boolean }): Promise<void>;
}

/** Minus the umask. */
export const ANYBODY = 0o666;
export const OWNER_ALONE = 0o600;

/** Creates a sibling of `target`. */
export const createSibling = (target: HostPath, mode: number): Promise<Sibling> =>
  openSibling(randomPath(target), mode);

/**
 * Creates the sibling that only one writer of `target` has at a time, after waiting for another one to end. What a killed one has left
 * keeps its content under another name. Undefined where an existing file can be written in place only.
 */
export async function claimSibling(target: HostPath): Promise<Sibling | undefined> {
  const name = createHash("sha256").update(baseName(target)).digest("hex").slice(0, 16);
  const path = joinPath(parentPath(target), `${PREFIX}${name}`);
  const began = performance.now();
  let seen: { identity: string; since: number } | undefined;
  for (;;) {
    try {
      return await openSibling(path, OWNER_ALONE);
    } catch (error) {
      if (MEANS_IN_PLACE.has(errnoOf(error) ?? "")) return undefined;
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    const now = performance.now();
    const identity = await identify(path);
    if (seen?.identity !== identity) seen = { identity, since: now };
    const isAbandoned = now - seen.since > ABANDONED_SIBLING_MS;
    const isFreed = isAbandoned && (await rename(path, randomPath(target)).then(yes, no));
    // Another user's file, or one that somebody creates again and again, holds nobody up.
    if ((isAbandoned && !isFreed) || now - began > MAX_SIBLING_WAIT_MS) return tryCreateSibling(target, OWNER_ALONE);
    if (!isFreed) await wait(SIBLING_POLL_MS);
  }
}

const yes = () => true;
const no = () => false;

const PREFIX = ".codex-replace-";
const randomPath = (target: HostPath): HostPath =>
  joinPath(parentPath(target), `${PREFIX}${randomBytes(8).toString("hex")}`);

async function identify(path: HostPath): Promise<string> {
  const there = await lstat(path, { bigint: true }).catch(() => undefined);
  return there === undefined ? "missing" : `${there.ino}:${there.ctimeNs}`;
}

async function openSibling(path: HostPath, mode: number): Promise<Sibling> {
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, mode);
  let isLeft = false;
  const leave = async () => {
    isLeft = true;
    await file.close().catch(() => {});
  };
  const discard = async () => {
    if (isLeft) return;
    await leave();
    await unlink(path).catch(() => {});
  };
  const become = async (name: HostPath, { isNew = false } = {}) => {
    try {
      await file.close();
      if (!isNew || !(await linkAs(path, name))) return await rename(path, name);
    } catch (error) {
      await discard();
      throw error;
    }
    await discard();
  };
  return { file, path, discard, leave, become };
}

/** Like `createSibling`; undefined where an existing file can be written in place only. */
export async function tryCreateSibling(target: HostPath, mode: number): Promise<Sibling | undefined> {
  try {
    return await createSibling(target, mode);
  } catch (error) {
    if (MEANS_IN_PLACE.has(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

/** ENOENT: directories of /proc take no new files. ENAMETOOLONG: the sibling's name may be the longer one. */
const MEANS_IN_PLACE: ReadonlySet<string> = new Set(["EACCES", "EPERM", "EROFS", "ENOENT", "ENAMETOOLONG"]);

/** Gives a file a second name, which must be free; false on a file system without hard links. */
async function linkAs(path: HostPath, name: HostPath): Promise<boolean> {
  try {
    await link(path, name);
    return true;
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw systemError("EEXIST");
    return false;
  }
}
