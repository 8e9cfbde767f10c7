import { closeSync, fstatSync, read } from "node:fs";
import { promisify } from "node:util";
import type { HostPath } from "@codex/exec-server-protocol";
import { invalidRequest, withErrorPath } from "../errors.js";
import { READ_STEP_BYTES, UNKNOWN_SIZE_BYTES } from "../limits.js";
import { openDescriptor } from "../paths/open-file.js";

/** Reserves memory for a response of this size before it is created; resolves when there is room. */
export type ReserveBytes = (bytes: number) => Promise<void>;

/** All bytes of a regular file. @throws RpcError, also for a file that is larger than `maxBytes` */
export function readWholeFile(
  path: HostPath,
  followSymlinks: boolean,
  maxBytes: number,
  reserve?: ReserveBytes,
): Promise<Buffer> {
  return withErrorPath(path, async () => {
    const fd = await openDescriptor(path, followSymlinks);
    try {
      const { size } = fstatSync(fd);
      if (size > maxBytes) throw tooLarge(maxBytes);
      await reserve?.(size);
      return await readToEnd(fd, size, maxBytes);
    } finally {
      closeSync(fd);
    }
  });
}

/** Reads until the end, since the size may be wrong. The buffer has one spare byte, so that a full read finds the end. */
async function readToEnd(fd: number, size: number, maxBytes: number): Promise<Buffer> {
  let buffer: Buffer = Buffer.allocUnsafeSlow(size > 0 ? size + 1 : Math.min(UNKNOWN_SIZE_BYTES, maxBytes + 1));
  let length = 0;
  for (;;) {
    if (length === buffer.length) {
      if (length > maxBytes) throw tooLarge(maxBytes);
      buffer = enlarge(buffer, Math.min(length * 2, maxBytes + 1));
    }
    const most = Math.min(buffer.length - length, READ_STEP_BYTES);
    // Without a position: files of /proc do not support positional reads.
    const { bytesRead } = await readLater(fd, buffer, length, most, null);
    length += bytesRead;
    // A short read at the reported size: this is the end.
    if (bytesRead === 0 || (bytesRead < most && length === size)) return buffer.subarray(0, length);
  }
}

const readLater = promisify(read);

function enlarge(buffer: Buffer, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length);
  buffer.copy(larger);
  return larger;
}

const tooLarge = (maxBytes: number) => invalidRequest(`file is too large to read: limit is ${maxBytes} bytes`);
