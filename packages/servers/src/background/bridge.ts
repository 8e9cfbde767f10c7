import type { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import { DETACH_MS } from "./limits.js";

/** The streams that a bridge connects and owns. */
export interface BridgeStreams {
  input: Readable;
  output: Writable;
  socket: Socket;
}

/** `detached`: this side ended, and the server keeps its sessions. `ended`: the server closed the connection. */
export type BridgeEnd = "detached" | "ended";

/**
 * Relays bytes between two streams and a socket in both directions, with back-pressure. The end of `input` ends the sending
 * side; output of the server is still relayed as long as it makes progress. Never rejects.
 * @param detachMs milliseconds without progress after the end of `input`
 */
export function runBridge({ input, output, socket }: BridgeStreams, detachMs = DETACH_MS): Promise<BridgeEnd> {
  return new Promise((resolve) => {
    let isDetached = false;
    let timer: NodeJS.Timeout | undefined;
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      input.destroy();
      resolve(isDetached ? "detached" : "ended");
    };
    const waitForRest = () => {
      clearTimeout(timer);
      timer = setTimeout(finish, detachMs);
    };
    const detach = () => {
      if (isDetached) return;
      isDetached = true;
      waitForRest();
      output.on("drain", waitForRest);
      socket.on("data", waitForRest);
    };
    input
      .once("end", detach)
      .once("close", detach)
      .on("error", () => socket.end());
    output.on("error", () => {
      isDetached = true;
      finish();
    });
    socket.on("error", () => {}).once("close", () => output.end());
    output.once("finish", finish).once("close", finish);
    input.pipe(socket);
    // The end of the socket ends `output` in every case, also when the connection was reset.
    socket.pipe(output);
  });
}
