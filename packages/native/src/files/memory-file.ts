import { constants, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hasFunction } from "../libc/bind.js";
import { raiseAboveStreams, tooManyFiles } from "../libc/descriptors.js";
import type { Libc } from "../libc/libc.js";

/** Linux. */
export interface MemoryFiles {
  /**
   * An unnamed file with these bytes. Its offset, which is 0, is shared by all readers, so it is for one child only.
   * The caller closes it. @throws an error with the code EMFILE
   */
  createMemoryFile(bytes: Uint8Array): number;
}

/** sys/mman.h of Linux. */
const MFD_CLOEXEC = 1;

/** @param getLibc called with the first file */
export const createMemoryFiles = (getLibc: () => Libc): MemoryFiles => ({
  createMemoryFile(bytes) {
    const fd = raiseAboveStreams(getLibc(), openMemory(getLibc()));
    // Written at a position, so that the offset stays 0.
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
    return fd;
  },
});

/** Where the C library lacks `memfd_create`, an unnamed file of the file system is used. */
function openMemory(libc: Libc): number {
  if (!hasFunction(libc, "memfd_create")) return openUnnamed();
  const opened = libc.memfd_create("codex", MFD_CLOEXEC);
  if (opened === -1) throw tooManyFiles(libc);
  return opened;
}

function openUnnamed(): number {
  try {
    return openSync(tmpdir(), constants.O_RDWR | O_TMPFILE, 0o600);
  } catch {
    // The file system does not support unnamed files: this one briefly has a name.
  }
  const directory = mkdtempSync(join(tmpdir(), "codex-memory-"));
  try {
    return openSync(join(directory, "file"), "wx+", 0o600);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** fcntl.h of Linux: `__O_TMPFILE | O_DIRECTORY`; the latter depends on the architecture. */
const O_TMPFILE = 0o20000000 | constants.O_DIRECTORY;
