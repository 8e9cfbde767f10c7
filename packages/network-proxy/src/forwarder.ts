import type { OnReadOpts, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { MAX_READ_BYTES, MIN_READ_BYTES } from "./limits.js";

/**
 * Passes on what a socket receives, without the streams between: half as much time again for bulk. There is one buffer, which
 * grows as long as reads fill it, and is not read into again before what it holds was written.
 */
export interface Forwarder {
  /** For the socket, when it is created; it must be paused until `forward` is called. */
  onread: OnReadOpts;
  /** What the socket receives, and its end, goes to `to` from now on. Called once. */
  forward(from: Socket, to: Duplex): void;
}

export function createForwarder(): Forwarder {
  let buffer = Buffer.allocUnsafeSlow(MIN_READ_BYTES);
  let write = (_chunk: Buffer): void => {
    throw new Error("a socket was read before it was known where to");
  };
  return {
    onread: {
      buffer: () => buffer,
      callback(bytes) {
        const filled = buffer;
        if (bytes === filled.length && bytes < MAX_READ_BYTES) buffer = Buffer.allocUnsafeSlow(bytes * 4);
        write(filled.subarray(0, bytes));
        // Until it was written, nothing is read.
        return false;
      },
    },
    forward(from, to) {
      write = (chunk) => void to.write(chunk, () => from.resume());
      from.once("end", () => to.end());
      from.resume();
    },
  };
}
