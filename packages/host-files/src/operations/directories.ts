import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { errnoOf } from "@codex/exec-backend";
import type { CanonicalizeParams, CanonicalizeResult, CreateDirectoryParams } from "@codex/exec-server-protocol";
import { type HostPath, isSamePath, parentPath, toFileUrl, toHostPath } from "@codex/exec-server-protocol";
import { systemError, withErrorPath } from "../errors.js";
import { withoutLinks } from "../paths/no-follow.js";
import { refuseOwnDescriptor } from "../paths/own-process.js";

export function createDirectory({ path, recursive, followSymlinks }: CreateDirectoryParams): Promise<void> {
  return withErrorPath(path, async () => {
    if (followSymlinks) await (recursive ? makeDirectories(path) : mkdir(path));
    else if (recursive) await createDirectories(path);
    else await withoutLinks(path, (entry) => mkdir(entry));
  });
}

/** Like `mkdir` with `recursive`, but reports EROFS on a read-only file system, where Node reports ENOENT. */
export async function makeDirectories(path: HostPath): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const parent = parentPath(path);
    if (errnoOf(error) === "ENOENT" && !isSamePath(parent, path)) {
      await makeDirectories(parent);
      await mkdir(path).catch((cause) => acceptDirectory(path, cause));
    } else {
      await acceptDirectory(path, error);
    }
  }
}

async function acceptDirectory(path: HostPath, error: unknown): Promise<void> {
  const there = await stat(path).catch(() => undefined);
  if (!there?.isDirectory()) throw error;
}

/** Creates each missing ancestor and the directory itself without following links. */
async function createDirectories(path: HostPath): Promise<void> {
  const parent = parentPath(path);
  if (isSamePath(parent, path)) return;
  await createDirectories(parent);
  await withoutLinks(path, async (entry) => {
    try {
      await mkdir(entry);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
      if (!(await lstat(entry)).isDirectory()) throw systemError("ENOTDIR");
    }
  });
}

export function canonicalize({ path }: CanonicalizeParams): Promise<CanonicalizeResult> {
  return withErrorPath(path, async () => {
    await refuseOwnDescriptor(path);
    return { path: toFileUrl(toHostPath(await realpath(path, { encoding: "buffer" }))) };
  });
}
