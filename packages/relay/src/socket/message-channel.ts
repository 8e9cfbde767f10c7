import { CarriedChannel, type ChannelLimits } from "@codex/channel";
import type { FrameSocket } from "./frame-socket.js";

/** How one message is written to a socket and read from it. */
export interface MessageFraming {
  encode(json: Buffer): Uint8Array | string;
  /** The message; undefined where there is none in it. @throws Error: the channel ends */
  decode(data: Buffer, isBinary: boolean): Buffer | undefined;
  /** Sent before the socket is closed. */
  goodbye?(): Uint8Array;
}

/** A channel with a whole socket of its own, one message in each message of the socket. `onClosed` is called at its end. */
export function createMessageChannel(
  socket: FrameSocket,
  { encode, decode, goodbye }: MessageFraming,
  { limits, onClosed }: { limits?: Partial<ChannelLimits> | undefined; onClosed?: (reason: string) => void } = {},
): CarriedChannel {
  const carrier = {
    send: (json: Buffer, onWritten?: () => void) => {
      socket.send(encode(json));
      onWritten?.();
    },
    get waitingBytes() {
      return socket.waitingBytes;
    },
    setFull: (isFull: boolean) => socket.setPaused(isFull),
    close: async ({ deadlineMs, abrupt }: { deadlineMs: number; abrupt: boolean }) => {
      if (abrupt) socket.cut("it was closed");
      if (goodbye !== undefined) socket.send(goodbye());
      await socket.close(deadlineMs);
    },
  };
  const channel = new CarriedChannel(carrier, limits === undefined ? {} : { limits });
  socket.start({
    onMessage: (data, isBinary) => {
      try {
        const message = decode(data, isBinary);
        if (message !== undefined) channel.deliver(message);
      } catch (error) {
        socket.cut(error instanceof Error ? error.message : String(error));
      }
    },
    onWritten: () => channel.noteSent(),
    onClosed: (reason) => {
      channel.end({ kind: "failed", error: new Error(reason) });
      onClosed?.(reason);
    },
  });
  return channel;
}
