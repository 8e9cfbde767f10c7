import type { Channel } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { MAX_MESSAGE_BYTES, SOCKET_CLOSE_MS } from "../limits.js";
import { FrameSocket } from "../socket/frame-socket.js";
import { createMessageChannel } from "../socket/message-channel.js";

/** Where to forward streams. */
export interface ForwardOptions {
  /** A `ws:` or `wss:` URL. */
  destination: string;
  clock?: Clock;
  log?: Logger | undefined;
}

/**
 * Connects a stream to its own websocket, which is sent each message as a binary one. When either ends, the other is ended. Resolves
 * then; never rejects.
 */
export async function forwardStream(stream: Channel, options: ForwardOptions): Promise<void> {
  const { destination, clock = systemClock, log } = options;
  try {
    const socket = await FrameSocket.dial(destination, { clock, maxMessageBytes: MAX_MESSAGE_BYTES });
    const framing = { encode: (json: Buffer) => json, decode: (data: Buffer) => data };
    const channel = createMessageChannel(socket, framing, { carriesBinary: true });
    // The ends negotiate binary messages; forward them in any case.
    stream.binary?.accept();
    channel.binary?.accept();
    await Promise.race([pump(stream, channel), pump(channel, stream)]);
    await channel.close({ deadlineMs: SOCKET_CLOSE_MS });
  } catch (error) {
    log?.warn?.("a stream could not be forwarded", { error: messageOf(error) });
  }
  await stream.close({ deadlineMs: SOCKET_CLOSE_MS });
}

/** Forwards every message unchanged until either end has ended. */
async function pump(from: Channel, to: Channel): Promise<void> {
  for (let received = await from.receive(); received !== undefined; received = await from.receive()) {
    if (received.kind === "malformed") return;
    try {
      if (received.kind === "bytes") await to.binary?.send(received.head, received.bytes);
      else await to.sendEncoded(Buffer.from(received.text ?? JSON.stringify(received.value)));
    } catch {
      return;
    }
  }
}
