import type { OnReadOpts, Socket } from "node:net";

/** Size of the first slab, bytes, and the least room for a read. */
const SMALL_SLAB_BYTES = 64 * 1024;

/** Size of all later slabs, bytes. */
const LARGE_SLAB_BYTES = 512 * 1024;

/** A read up to this size is copied, so that keeping a short message does not keep a slab. */
const MAX_COPIED_BYTES = 32 * 1024;

/** The `onread` option of a socket whose memory is asked for before each read. */
export interface SlabReads extends OnReadOpts {
  buffer: () => Uint8Array;
}

/**
 * Makes the reads of a socket up to 512 KiB large in a flood: Node's own have 64 KiB, and JavaScript runs for each. What was read
 * is pushed to the socket, as without `onread`. A socket keeps one slab for its next reads.
 *
 * @param socket is called once something was read
 */
export function createSlabReads(socket: () => Socket): SlabReads {
  let slab = Buffer.allocUnsafeSlow(SMALL_SLAB_BYTES);
  return {
    buffer: () => slab,
    callback(size, memory) {
      const bytes = memory.subarray(0, size);
      if (size <= MAX_COPIED_BYTES) return socket().push(Buffer.from(bytes));
      slab = slab.subarray(size);
      if (slab.length < SMALL_SLAB_BYTES) slab = Buffer.allocUnsafeSlow(LARGE_SLAB_BYTES);
      try {
        return socket().push(bytes);
      } catch (error) {
        // Of a listener. Node would not ask for the next memory now, and overwrite these bytes.
        socket().destroy();
        throw error;
      }
    },
  };
}
