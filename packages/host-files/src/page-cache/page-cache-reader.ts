import { setImmediate } from "node:timers/promises";
import type { GetMetadataParams, HostPath, Metadata, ReadFileParams } from "@codex/exec-server-protocol";
import { createKernel, type Kernel, MAX_CACHED_READ_BYTES } from "@codex/native";
import { toMetadata } from "../operations/metadata.js";
import { createMounts, type MountKind, type Mounts } from "./mounts.js";

/**
 * Serves file calls synchronously from the page cache and the dentry cache: microseconds on the event loop instead of a
 * round trip through the thread pool. `undefined` means that the call might block or fail, and says nothing about the file:
 * the caller then makes the regular call, which reports errors. Never throws.
 */
export interface PageCacheReader {
  readFile(params: ReadFileParams, maxBytes: number): Buffer | undefined;
  getMetadata(params: GetMetadataParams): Metadata | undefined;
  /** Resolves when the mounts are known, which the first call asks for. Never rejects. */
  settled(): Promise<void>;
  /** Idempotent; never rejects. */
  close(): Promise<void>;
}

/** Collaborators of `createPageCacheReader`, replaced in tests. */
export interface PageCacheReaderOptions {
  /** Returns undefined where the system calls are not available: every call then returns undefined. */
  createKernel?: () => Kernel | undefined;
  /** Path of the list of mounts in the format of proc(5) `mountinfo`. */
  mountInfo?: string;
}

/** Binds the system calls after the first call, which does not wait for it; until then every call returns undefined. */
export function createPageCacheReader(options: PageCacheReaderOptions = {}): PageCacheReader {
  let files = NOTHING;
  let opening: Promise<void> | undefined;
  const open = async () => {
    await setImmediate();
    const kernel = (options.createKernel ?? createKernel)();
    if (kernel !== undefined) files = bindFiles(kernel, createMounts(kernel, options.mountInfo));
  };
  const getFiles = () => {
    opening ??= open();
    return files;
  };
  return {
    readFile: (params, maxBytes) => getFiles().readFile(params, maxBytes),
    getMetadata: (params) => getFiles().getMetadata(params),
    async settled() {
      await opening;
      await files.settled();
    },
    async close() {
      opening ??= Promise.resolve();
      await opening;
      await files.close();
    },
  };
}

const NOTHING: PageCacheReader = {
  readFile: () => undefined,
  getMetadata: () => undefined,
  settled: async () => {},
  close: async () => {},
};

/** Calls with `followSymlinks: false` keep each directory of the path open, so they are never served from the cache. */
function bindFiles(kernel: Kernel, mounts: Mounts): PageCacheReader {
  const getStatus = (found: number) => kernel.getStatus(found);
  const readFound = (found: number, kind: MountKind, maxBytes: number) => {
    // The content of a file on overlayfs comes from a lower file system, which may be remote.
    const status = kind === "layered" ? undefined : kernel.getStatus(found);
    if (status?.kind !== "file" || status.size > Math.min(maxBytes, MAX_CACHED_READ_BYTES)) return undefined;
    const fd = kernel.open(found);
    if (fd === undefined) return undefined;
    const bytes = kernel.readAll(fd, status.size, kind === "memory");
    kernel.close(fd);
    return bytes;
  };
  return {
    readFile({ path, followSymlinks }, maxBytes) {
      if (!followSymlinks) return undefined;
      return withFound(kernel, mounts, path, true, (found, kind) => readFound(found, kind, maxBytes));
    },
    getMetadata({ path, followSymlinks, extended }) {
      if (!followSymlinks) return undefined;
      const own = withFound(kernel, mounts, path, false, getStatus);
      const isSymlink = own?.kind === "symlink";
      const status = isSymlink ? withFound(kernel, mounts, path, true, getStatus) : own;
      if (status === undefined || (extended && status.createdAtMs === undefined)) return undefined;
      return toMetadata(status, { isSymlink, withCreation: extended, extended });
    },
    settled: () => mounts.settled(),
    close: () => mounts.close(),
  };
}

/** Calls `use` with a descriptor of the path if its mount is local. Most paths are on the root mount, which is tried first. */
function withFound<T>(
  kernel: Kernel,
  mounts: Mounts,
  path: HostPath,
  followsLast: boolean,
  use: (found: number, kind: MountKind) => T | undefined,
): T | undefined {
  const onRoot = kernel.find(path, { followsLast, staysOnRoot: true });
  const found = onRoot ?? kernel.find(path, { followsLast, staysOnRoot: false });
  if (found === undefined) return undefined;
  const kind = onRoot === undefined ? mounts.kindOf(found) : mounts.kindOfRoot();
  const result = kind === undefined ? undefined : use(found, kind);
  kernel.close(found);
  return result;
}
