import { connect, type NetConnectOpts, type Socket } from "node:net";

/** Size of the first memory for reads, bytes, and the least that a read may fill. */
const SMALL_SLAB_BYTES = 64 * 1024;

/** The same once a read was large. */
const LARGE_SLAB_BYTES = 512 * 1024;

/** A read up to this size is copied, so that keeping a message does not keep the memory of many. */
const MAX_COPIED_BYTES = 32 * 1024;

/** Connects like `net.connect`, with reads of up to 512 KiB in a flood: Node's own have 64 KiB, and JavaScript runs for each. */
export function connectWire(options: NetConnectOpts): Socket {
  let slab = Buffer.allocUnsafeSlow(SMALL_SLAB_BYTES);
  const take = (size: number, into: Uint8Array): boolean => {
    const bytes = into.subarray(0, size);
    if (size <= MAX_COPIED_BYTES) return socket.push(Buffer.from(bytes));
    slab = slab.subarray(size);
    if (slab.length < SMALL_SLAB_BYTES) slab = Buffer.allocUnsafeSlow(LARGE_SLAB_BYTES);
    return socket.push(bytes);
  };
  const socket = connect({ ...options, onread: { buffer: () => slab, callback: take } });
  return socket;
}
