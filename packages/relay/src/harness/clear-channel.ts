import { randomUUID } from "node:crypto";
import type { Channel, ChannelLimits } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import { decodeFrame } from "../frames/decode.js";
import { encodeFrame } from "../frames/encode.js";
import type { FrameBody } from "../frames/frame.js";
import { RESET_REASON } from "../frames/reset-reason.js";
import { MAX_CLEAR_FRAME_BYTES } from "../limits.js";
import { FrameSocket } from "../socket/frame-socket.js";
import { createMessageChannel } from "../socket/message-channel.js";

/** Options of a channel over the legacy relay. */
export interface ClearChannelOptions {
  /** A `ws:` or `wss:` URL with `role=harness` in its query. Secret. */
  url: string;
  headers?: Readonly<Record<string, string>>;
  ca?: string | Uint8Array | undefined;
  timeoutMs?: number;
  signal?: AbortSignal;
  limits?: Partial<ChannelLimits>;
  clock?: Clock;
}

/** Whether a URL is one of the legacy relay: its query has `role=harness`. */
export function isClearRelayUrl(url: string): boolean {
  return URL.canParse(url) && new URL(url).searchParams.get("role") === "harness";
}

/** Opens a channel over the legacy relay, whose frames are not encrypted. @throws SocketError, or the reason of the signal */
export async function openClearChannel(options: ClearChannelOptions): Promise<Channel> {
  const { url, clock = systemClock, limits, ...dial } = options;
  const socket = await FrameSocket.dial(url, { clock, maxMessageBytes: MAX_CLEAR_FRAME_BYTES, ...dial });
  const streamId = randomUUID();
  const encode = (body: FrameBody) => encodeFrame({ streamId, body });
  let seq = 0;
  socket.send(encode({ kind: "resume", nextSeq: 0 }));
  return createMessageChannel(
    socket,
    {
      encode: (json) => encode({ kind: "data", seq: seq++ % 2 ** 32, payload: json }),
      decode: (data, isBinary) => {
        const decoded = isBinary ? decodeFrame(data) : undefined;
        // Like Codex, drop everything that is not a frame of this stream.
        if (decoded?.ok !== true || decoded.frame.streamId !== streamId) return undefined;
        const { body } = decoded.frame;
        if (body.kind === "reset") throw new Error("the stream was reset");
        return body.kind === "data" ? Buffer.from(body.payload) : undefined;
      },
      goodbye: () => encode({ kind: "reset", reason: RESET_REASON }),
    },
    { limits },
  );
}
