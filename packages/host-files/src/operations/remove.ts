import { lstat, rmdir, unlink } from "node:fs/promises";
import { RpcError } from "@codex/channel";
import { errnoOf } from "@codex/exec-backend";
import type { RemoveParams } from "@codex/exec-server-protocol";
import { displayPath, ERROR_CODES, type HostPath } from "@codex/exec-server-protocol";
import { invalidRequest, withErrorPath } from "../errors.js";
import { withoutLinks } from "../paths/no-follow.js";
import { removeTree } from "./remove-tree.js";

/** Removes a file, a symbolic link (never its target) or a directory. */
export function remove(params: RemoveParams, signal: AbortSignal): Promise<void> {
  const { path, recursive, force, followSymlinks } = params;
  return withErrorPath(path, async () => {
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
