import { closeSync, fstatSync, read } from "node:fs";
import { promisify } from "node:util";
import type { HostPath } from "@codex/exec-server-protocol";
import { about, invalidRequest } from "../errors.js";
import { READ_STEP_BYTES, UNKNOWN_SIZE_BYTES } from "../limits.js";
import { openDescriptor } from "../paths/open-file.js";

/** Resolves when there is room for a file of so many bytes; called before it is read. */
export type ReserveBytes = (bytes: number) => Promise<void>;

/** All bytes of a regular file. @throws RpcError, also for a file that is larger than `maxBytes` */
export function readWholeFile(
  path: HostPath,
  followSymlinks: boolean,
  maxBytes: number,
  reserve?: ReserveBytes,
): Promise<Buffer> {
  return about(path, async () => {
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

/** The file may be longer or shorter than it said: it is read until its end. One byte more than fits finds that end. */
async function readToEnd(fd: number, size: number, maxBytes: number): Promise<Buffer> {
  let buffer: Buffer = Buffer.allocUnsafeSlow(size > 0 ? size + 1 : Math.min(UNKNOWN_SIZE_BYTES, maxBytes + 1));
  let length = 0;
  for (;;) {
    if (length === buffer.length) {
      if (length > maxBytes) throw tooLarge(maxBytes);
      buffer = enlarge(buffer, Math.min(length * 2, maxBytes + 1));
    }
    const most = Math.min(buffer.length - length, READ_STEP_BYTES);
    // Positions are left to the system: files of /proc are no arrays of bytes.
    const { bytesRead } = await readLater(fd, buffer, length, most, null);
    length += bytesRead;
    // Less than was asked for, and just as much as it said: there is no more.
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
