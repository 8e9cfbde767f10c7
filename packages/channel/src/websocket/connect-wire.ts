import { connect, type NetConnectOpts, type Socket } from "node:net";

/** Size of the first slab, bytes, and the least room for a read. */
const SMALL_SLAB_BYTES = 64 * 1024;

/** Size of all later slabs, bytes. */
const LARGE_SLAB_BYTES = 512 * 1024;

/** A read up to this size is copied, so that keeping a short message does not keep a slab. */
const MAX_COPIED_BYTES = 32 * 1024;

/**
 * Connects like `net.connect`, with reads of up to 512 KiB in a flood: Node's own have 64 KiB, and JavaScript runs for each. A
 * connection keeps one slab for its next reads.
 */
export function connectWire(options: NetConnectOpts): Socket {
  let slab = Buffer.allocUnsafeSlow(SMALL_SLAB_BYTES);
  const onRead = (size: number, memory: Uint8Array): boolean => {
    const bytes = memory.subarray(0, size);
    if (size <= MAX_COPIED_BYTES) return socket.push(Buffer.from(bytes));
    slab = slab.subarray(size);
    if (slab.length < SMALL_SLAB_BYTES) slab = Buffer.allocUnsafeSlow(LARGE_SLAB_BYTES);
    try {
      return socket.push(bytes);
    } catch (error) {
      // Of a listener. Node would not ask for the next memory now, and overwrite these bytes.
      socket.destroy();
      throw error;
    }
  };
  const socket = connect({ ...options, onread: { buffer: () => slab, callback: onRead } });
  return socket;
}
