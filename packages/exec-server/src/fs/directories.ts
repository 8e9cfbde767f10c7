import { lstat, mkdir, realpath, stat } from "node:fs/promises";
import { errnoOf } from "../process/errors.js";
import { toFileUrl } from "../protocol/file-url.js";
import type {
  CanonicalizeParams,
  CanonicalizeResult,
  CreateDirectoryParams,
  DirectoryEntry,
  ReadDirectoryParams,
  ReadDirectoryResult,
} from "../protocol/fs.js";
import { type HostPath, isSamePath, joinPath, parentPath, toHostPath } from "../protocol/host-path.js";
import { about, invalidRequest, systemError } from "./errors.js";
import { type ListedEntry, listBatches } from "./list-directory.js";
import { withoutLinks } from "./no-follow.js";

export function createDirectory({ path, recursive, followSymlinks }: CreateDirectoryParams): Promise<void> {
  return about(path, async () => {
    if (followSymlinks) await (recursive ? makeDirectories(path) : mkdir(path));
    else if (recursive) await createDirectories(path);
    else await withoutLinks(path, (entry) => mkdir(entry));
  });
}

/** Like `mkdir` with `recursive`, which says ENOENT for a file system that is read-only. */
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

/** Each directory on the way, passing no link. */
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
  return about(path, async () => ({ path: toFileUrl(toHostPath(await realpath(path, { encoding: "buffer" }))) }));
}

/** In directory order. Links are told as what they lead to, and left out where they lead nowhere. */
export function readDirectory(
  { path, extended }: ReadDirectoryParams,
  maxEntries: number,
): Promise<ReadDirectoryResult> {
  return about(path, async () => {
    const entries: DirectoryEntry[] = [];
    for await (const batch of listBatches(path)) {
      for (const listed of batch) {
        const entry =
          listed.kind === "symlink" ? await resolveLink(path, listed.name, extended) : toEntry(listed, extended);
        if (entry === undefined) continue;
        if (entries.length >= maxEntries)
          throw invalidRequest(`directory has more entries than the limit of ${maxEntries}`);
        entries.push(entry);
      }
    }
    return { entries };
  });
}

/** What a link leads to. Undefined for one that leads nowhere, which only an extended answer has. */
async function resolveLink(directory: HostPath, name: Buffer, extended: boolean): Promise<DirectoryEntry | undefined> {
  const target = await stat(joinPath(directory, name)).catch(() => undefined);
  if (target === undefined && !extended) return undefined;
  const entry = {
    fileName: name.toString(),
    isDirectory: target?.isDirectory() ?? false,
    isFile: target?.isFile() ?? false,
  };
  return extended ? { ...entry, isSymlink: true } : entry;
}

function toEntry({ name, kind }: ListedEntry, extended: boolean): DirectoryEntry {
  const entry = { fileName: name.toString(), isDirectory: kind === "directory", isFile: kind === "file" };
  return extended ? { ...entry, isSymlink: false } : entry;
}
