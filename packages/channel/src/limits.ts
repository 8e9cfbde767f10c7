/** Bounds of a channel. What a peer can make grow is measured in bytes of encoded JSON. */
export interface ChannelLimits {
  /** Largest message in either direction, bytes. A larger one is skipped and reported as malformed. */
  maxMessageBytes: number;
  /** Deepest nesting of arrays and objects. */
  maxDepth: number;
  /** Above this many bytes waiting to be written, `send` holds its caller back. */
  highWaterBytes: number;
}

export const DEFAULT_CHANNEL_LIMITS: ChannelLimits = {
  maxMessageBytes: 64 * 1024 * 1024,
  maxDepth: 128,
  highWaterBytes: 1024 * 1024,
};
