import type { Stats } from "node:fs";
import { lstat, stat } from "node:fs/promises";
import type { GetMetadataParams, Metadata } from "@codex/exec-server-protocol";
import { displayPath } from "@codex/exec-server-protocol";
import { kindOf, type Status } from "@codex/native";
import { invalidRequest, withErrorPath } from "../errors.js";
import { withoutLinks } from "../paths/no-follow.js";

export function getMetadata({ path, followSymlinks, extended }: GetMetadataParams): Promise<Metadata> {
  return withErrorPath(path, async () => {
    if (!followSymlinks) {
      const own = await withoutLinks(path, (entry) => lstat(entry));
      if (own.isSymbolicLink()) throw invalidRequest(`path contains a symbolic link: ${displayPath(path)}`);
      return toMetadata(toStatus(own), { isSymlink: false, withCreation: true, extended });
    }
    const own = await lstat(path);
    const isSymlink = own.isSymbolicLink();
    return toMetadata(toStatus(isSymlink ? await stat(path) : own), { isSymlink, withCreation: extended, extended });
  });
}

const toStatus = ({ mode, size, mtimeMs, birthtimeMs }: Stats): Status => ({
  kind: kindOf(mode),
  mode,
  size,
  modifiedAtMs: Math.floor(mtimeMs),
  createdAtMs: Math.floor(birthtimeMs),
});

/** Codex 0.169.0 reports the creation time only when it does not follow links; clients compare with it. */
interface MetadataOptions {
  isSymlink: boolean;
  withCreation: boolean;
  extended: boolean;
}

export function toMetadata(status: Status, { isSymlink, withCreation, extended }: MetadataOptions): Metadata {
  const metadata = {
    isDirectory: status.kind === "directory",
    isFile: status.kind === "file",
    isSymlink,
    size: status.size,
    createdAtMs: (withCreation ? status.createdAtMs : undefined) ?? 0,
    modifiedAtMs: status.modifiedAtMs,
  };
  return extended ? { ...metadata, mode: status.mode & PERMISSION_BITS } : metadata;
}

const PERMISSION_BITS = 0o7777;
