import type { Stats } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import type { GetMetadataParams, Metadata } from "../protocol/fs.js";
import { displayPath } from "../protocol/host-path.js";
import { about, invalidRequest } from "./errors.js";
import { withoutLinks } from "./no-follow.js";

export function getMetadata({ path, followSymlinks, extended }: GetMetadataParams): Promise<Metadata> {
  return about(path, async () => {
    if (!followSymlinks) {
      const own = await withoutLinks(path, (entry) => lstat(entry));
      if (own.isSymbolicLink()) throw invalidRequest(`path contains a symbolic link: ${displayPath(path)}`);
      return toMetadata(own, { isSymlink: false, withCreation: true, extended });
    }
    const own = await lstat(path);
    const isSymlink = own.isSymbolicLink();
    return toMetadata(isSymlink ? await stat(path) : own, { isSymlink, withCreation: extended, extended });
  });
}

/** Codex 0.169.0 tells the time of creation only where it does not follow links; clients compare with it. */
interface MetadataOptions {
  isSymlink: boolean;
  withCreation: boolean;
  extended: boolean;
}

function toMetadata(stats: Stats, { isSymlink, withCreation, extended }: MetadataOptions): Metadata {
  const metadata = {
    isDirectory: stats.isDirectory(),
    isFile: stats.isFile(),
    isSymlink,
    size: stats.size,
    createdAtMs: withCreation ? Math.floor(stats.birthtimeMs) : 0,
    modifiedAtMs: Math.floor(stats.mtimeMs),
  };
  return extended ? { ...metadata, mode: stats.mode & PERMISSION_BITS } : metadata;
}

const PERMISSION_BITS = 0o7777;
