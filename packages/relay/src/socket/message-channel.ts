import { CarriedChannel, type ChannelLimits } from "@codex/channel";
import { defined, messageOf } from "@codex/values";
import type { FrameSocket } from "./frame-socket.js";

/** Encoding of messages on a socket. */
export interface MessageFraming {
  encode(json: Buffer): Uint8Array | string;
  /** Decodes a message; undefined if the data contains none. If it throws, the channel ends. */
  decode(data: Buffer, isBinary: boolean): Buffer | undefined;
  /** Sent before closing the socket. */
  goodbye?(): Uint8Array;
}

/** Creates a channel with its own socket, one message per socket message. Calls `onClosed` when it has ended. */
export function createMessageChannel(
  socket: FrameSocket,
  { encode, decode, goodbye }: MessageFraming,
  {
    limits,
    carriesBinary = false,
    onClosed,
  }: {
    limits?: Partial<ChannelLimits> | undefined;
    carriesBinary?: boolean;
    onClosed?: (reason: string) => void;
  } = {},
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
  const channel = new CarriedChannel(carrier, { carriesBinary, ...defined({ limits }) });
  socket.start({
    onMessage: (data, isBinary) => {
      try {
        const message = decode(data, isBinary);
        if (message !== undefined) channel.deliver(message);
      } catch (error) {
        socket.cut(messageOf(error));
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
