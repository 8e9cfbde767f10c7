import type { HostPath } from "@codex/exec-server-protocol";
import { FILE_BLOCK_BYTES } from "./limits.js";
import type { FileOptions, RemoteFileSystem } from "./remote-file-system.js";

type Blocks = Pick<RemoteFileSystem, "open" | "readBlock" | "writeBlock" | "close">;

/** A whole file. */
export async function readBlocks(
  files: Blocks,
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

/** The new content of a file. After a failure the handle is left open: closing it would put half a file in place. */
export async function writeBlocks(
  files: Blocks,
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
