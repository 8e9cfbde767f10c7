import { setImmediate } from "node:timers/promises";
import type { GetMetadataParams, HostPath, Metadata, ReadFileParams } from "@codex/exec-server-protocol";
import { AT_ONCE_BYTES, createKernel, type Kernel } from "@codex/native";
import { toMetadata } from "../operations/metadata.js";
import { createMounts, type MountKind, type Mounts } from "./mounts.js";

/**
 * File calls that need not wait, because all they ask for is in memory: microseconds on the loop instead of a turn
 * through the thread pool. Undefined says nothing about the file: the call itself is to be made then, and it alone says
 * what is an error. Nothing throws.
 */
export interface FilesAtOnce {
  readFile(params: ReadFileParams, maxBytes: number): Buffer | undefined;
  getMetadata(params: GetMetadataParams): Metadata | undefined;
  /** Resolves when it is known where files lie, which the first call asks for. Never rejects. */
  settled(): Promise<void>;
  /** Idempotent; never rejects. */
  close(): Promise<void>;
}

export interface FilesAtOnceOptions {
  /** Undefined where there are no such calls: nothing is answered then. */
  createKernel?: () => Kernel | undefined;
  /** The list of mounts as proc(5) has it. */
  mountInfo?: string;
}

/** Loads what it needs after the first call, which need not wait for it; nothing is answered before. */
export function createFilesAtOnce(options: FilesAtOnceOptions = {}): FilesAtOnce {
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

const NOTHING: FilesAtOnce = {
  readFile: () => undefined,
  getMetadata: () => undefined,
  settled: async () => {},
  close: async () => {},
};

/** Calls that follow no links hold each directory on the way, and are made the long way. */
function bindFiles(kernel: Kernel, mounts: Mounts): FilesAtOnce {
  const getStatus = (found: number) => kernel.getStatus(found);
  const readFound = (found: number, kind: MountKind, maxBytes: number) => {
    // A file below layers is opened with them, and may be anywhere.
    const status = kind === "layered" ? undefined : kernel.getStatus(found);
    if (status?.kind !== "file" || status.size > Math.min(maxBytes, AT_ONCE_BYTES)) return undefined;
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

/** What is at a path, where that is a place which need not be waited for. Most of them are on the mount of the root. */
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
