import type { Duplex } from "node:stream";
import { WebSocket } from "ws";

/** RFC 6455, 7.4.1: the connection has fulfilled its purpose. */
export const NORMAL_CLOSURE = 1000;

/** Sends what is queued, up to the deadline, and ends the connection without a close frame. */
export const cutSocket = (socket: WebSocket, deadlineMs: number): Promise<void> =>
  // Frames leave in order: when this one is written, everything before it is.
  endSocket(socket, deadlineMs, () => socket.ping(undefined, undefined, () => socket.terminate()));

/**
 * After the close frame of the peer nothing comes any more: with the answer to it sent, up to the deadline, the connection is over. That
 * a server ends its side first is not waited for.
 */
export const concludeSocket = (socket: WebSocket, wire: Duplex, deadlineMs: number): Promise<void> =>
  endSocket(socket, deadlineMs, () => {
    if (wire.writableFinished) socket.terminate();
    else wire.once("finish", () => socket.terminate());
  });

/** Sends what is queued and a close frame, and waits for the peer's, up to the deadline; not for the end of its side. */
export const closeSocket = (socket: WebSocket, wire: Duplex, deadlineMs: number): Promise<void> =>
  endSocket(socket, deadlineMs, () => {
    // ws ends this side once both close frames have passed: nothing comes any more.
    wire.once("finish", () => socket.terminate());
    // The close frame of the peer arrives after everything it has sent.
    socket.resume();
    socket.close(NORMAL_CLOSURE);
  });

/** Begins an end and waits for it; at the deadline the connection is cut. */
function endSocket(socket: WebSocket, deadlineMs: number, begin: () => void): Promise<void> {
  if (socket.readyState === WebSocket.CLOSED) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.terminate(), deadlineMs);
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    begin();
  });
}
