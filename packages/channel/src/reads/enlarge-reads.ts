import { readSync } from "node:fs";
import { Socket } from "node:net";
import type { Readable } from "node:stream";

/** What Node reads from a socket at once, bytes. */
const NODE_READ_BYTES = 64 * 1024;

/** Size of the memory for direct reads, bytes: used up over several reads, and replaced once less than a read of Node is left. */
const SLAB_BYTES = 512 * 1024;

/** Most direct reads after one of Node: several, so that its own are a small share; few, as Node repeats its own up to 32 times a turn. */
const MAX_DIRECT_READS = 4;

/**
 * Makes the reads of a pipe, unix socket or TCP socket larger in a flood. Node reads 64 KiB at once, allocates memory and runs
 * JavaScript for each, and has no option for more once a stream is open (https://github.com/nodejs/node/issues/45800 asks for one
 * for child processes). After each full read of Node, what the kernel still holds is read directly, in up to four reads of at most
 * 512 KiB, and pushed to the socket. Without effect on other streams, on stdin, and where Node has no descriptor for the socket, as on Windows.
 */
export function enlargeReads(input: Readable): void {
  if (!(input instanceof Socket)) return;
  let slab = Buffer.alloc(0);
  const push = input.push.bind(input);
  input.push = (chunk: Uint8Array | null, encoding?: BufferEncoding): boolean => {
    let wantsMore = push(chunk, encoding);
    if (chunk?.length !== NODE_READ_BYTES) return wantsMore;
    for (let read = 0; read < MAX_DIRECT_READS && wantsMore; read++) {
      // Looked up for each: the listener of the chunk before may have paused or closed the socket.
      const fd = findReadableFd(input);
      if (fd === undefined) break;
      if (slab.length < NODE_READ_BYTES) slab = allocateSlab();
      const bytes = slab.subarray(0, readAvailable(input, fd, slab));
      if (bytes.length === 0) break;
      const isDrained = bytes.length < slab.length;
      slab = slab.subarray(bytes.length);
      wantsMore = push(bytes);
      if (isDrained) break;
    }
    return wantsMore;
  };
}

/** Of a socket whose consumer has taken everything that was pushed, and wants more. */
function findReadableFd(socket: Socket & { _handle?: { fd?: number } | null }): number | undefined {
  if (socket.destroyed || socket.isPaused() || socket.readableLength > 0) return undefined;
  const handle = socket._handle;
  // Of others, as of TLS, the descriptor has other bytes than the stream.
  if (handle?.constructor.name !== "Pipe" && handle?.constructor.name !== "TCP") return undefined;
  // Others may share the first three, and make them blocking: the read that Node does after a full one would wait then.
  return handle.fd !== undefined && handle.fd > 2 ? handle.fd : undefined;
}

/** @returns 0 at the end of the stream as well, which Node reads again */
function readAvailable(socket: Socket, fd: number, memory: Buffer): number {
  try {
    return readSync(fd, memory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // The kernel reports the failure of a connection once, so Node would take it for the end.
    if (code !== "EAGAIN" && code !== "EINTR") socket.destroy(error as Error);
    return 0;
  }
}

/** Whoever receives a part of it cannot transfer it to a worker: others have the rest. */
function allocateSlab(): Buffer<ArrayBuffer> {
  const slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
  process.getBuiltinModule("node:worker_threads").markAsUntransferable(slab.buffer);
  return slab;
}
