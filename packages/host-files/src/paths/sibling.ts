import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, open, rename, unlink } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import { type HostPath, joinPath, parentPath } from "@codex/exec-server-protocol";
import { systemError } from "../errors.js";

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
export async function createSibling(target: HostPath, mode: number): Promise<Sibling> {
  const path = joinPath(parentPath(target), `.codex-replace-${randomBytes(8).toString("hex")}`);
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
