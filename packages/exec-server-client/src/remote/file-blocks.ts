import type { HostPath } from "@codex/exec-server-protocol";
import { FILE_BLOCK_BYTES } from "../limits.js";

/** Members that most file requests take; see section 7 of the protocol for `sandbox`. */
export interface FileOptions {
  /** As on the wire, with `file:` URIs; the server runs the request in it. */
  sandbox?: unknown;
  /** Default true. */
  followSymlinks?: boolean;
}

/** The file calls with which files are read and written in blocks. */
interface BlockFiles {
  open(handleId: string, path: HostPath, options: FileOptions & { mode?: "read" | "replace" }): Promise<void>;
  readBlock(handleId: string, offset: number, length: number): Promise<{ bytes: Buffer; eof: boolean }>;
  writeBlock(handleId: string, offset: number, bytes: Uint8Array): Promise<void>;
  close(handleId: string): Promise<void>;
}

/** Reads a whole file, one block at a time. */
export async function readBlocks(
  files: BlockFiles,
  handleId: string,
  path: HostPath,
  options: FileOptions,
): Promise<Buffer> {
  await files.open(handleId, path, options);
  try {
    const blocks: Buffer[] = [];
    for (let offset = 0; ; ) {
      const { bytes, eof } = await files.readBlock(handleId, offset, FILE_BLOCK_BYTES);
      blocks.push(bytes);
      offset += bytes.length;
      if (eof || bytes.length === 0) return Buffer.concat(blocks);
    }
  } finally {
    await files.close(handleId).catch(() => {}); // it ends with the connection at the latest
  }
}

/** Replaces the content of a file. After a failure the handle is left open: closing it would replace the file by an incomplete one. */
export async function writeBlocks(
  files: BlockFiles,
  handleId: string,
  path: HostPath,
  bytes: Uint8Array,
  options: FileOptions,
): Promise<void> {
  await files.open(handleId, path, { ...options, mode: "replace" });
  for (let offset = 0; offset < bytes.length; offset += FILE_BLOCK_BYTES) {
    await files.writeBlock(handleId, offset, bytes.subarray(offset, offset + FILE_BLOCK_BYTES));
  }
  await files.close(handleId);
}
