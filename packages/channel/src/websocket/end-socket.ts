import type { Duplex } from "node:stream";
import { WebSocket } from "ws";

/** RFC 6455, 7.4.1: the connection has fulfilled its purpose. */
export const NORMAL_CLOSURE = 1000;

/** Sends queued frames, up to the deadline, and ends the connection without a close frame. */
export const cutSocket = (socket: WebSocket, deadlineMs: number): Promise<void> =>
  // Frames are written in order: this one after everything before it.
  endSocket(socket, deadlineMs, () => socket.ping(undefined, undefined, () => socket.terminate()));

/**
 * Ends the connection after the close frame of the peer, once the response to it was sent, up to the deadline. Does not wait for
 * a server to end its side first.
 */
export const concludeSocket = (socket: WebSocket, wire: Duplex, deadlineMs: number): Promise<void> =>
  endSocket(socket, deadlineMs, () => {
    if (wire.writableFinished) socket.terminate();
    else wire.once("finish", () => socket.terminate());
  });

/** Sends queued frames and a close frame, and waits for the peer's close frame, up to the deadline; not for the end of its side. */
export const closeSocket = (socket: WebSocket, wire: Duplex, deadlineMs: number): Promise<void> =>
  endSocket(socket, deadlineMs, () => {
    // ws ends this side after both close frames: nothing more arrives.
    wire.once("finish", () => socket.terminate());
    // The close frame of the peer arrives after everything it has sent.
    socket.resume();
    socket.close(NORMAL_CLOSURE);
  });

/** Starts closing and waits for the end; at the deadline the connection is terminated. */
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
