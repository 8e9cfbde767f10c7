/** Bounds of a channel on everything a peer can make grow, in bytes of encoded JSON. */
export interface ChannelLimits {
  /** Largest message that is received, bytes. */
  maxMessageBytes: number;
  /** Largest message that is sent, bytes; as received unless given. */
  maxSentMessageBytes: number;
  /** Deepest nesting of arrays and objects. */
  maxDepth: number;
  /** Most values in one message, as parsed values take many times their bytes. Counted as commas and opening brackets. */
  maxValues: number;
  /** High-water mark, bytes waiting to be written: at or above it `send` resolves only once half of them are left. */
  highWaterBytes: number;
  /** Received bytes waiting for `receive`: at or above it nothing more is read; one read may exceed it. */
  maxWaitingBytes: number;
  /** The same for the number of received messages, or of the reads that hold them. */
  maxWaitingMessages: number;
}

/** The limits of a channel that is given none. */
export const DEFAULT_CHANNEL_LIMITS: ChannelLimits = {
  maxMessageBytes: 64 * 1024 * 1024,
  maxSentMessageBytes: 64 * 1024 * 1024,
  maxDepth: 128,
  maxValues: 1024 * 1024,
  highWaterBytes: 1024 * 1024,
  maxWaitingBytes: 1024 * 1024,
  maxWaitingMessages: 256,
};

/** Milliseconds that `close` waits for what was sent to be written. */
export const DEFAULT_CLOSE_DEADLINE_MS = 5_000;

/** The given limits over the defaults. @throws RangeError naming a limit that is not a positive integer. */
export function resolveLimits(limits: Partial<ChannelLimits> = {}): ChannelLimits {
  const maxMessageBytes = limits.maxMessageBytes ?? DEFAULT_CHANNEL_LIMITS.maxMessageBytes;
  const resolved = { ...DEFAULT_CHANNEL_LIMITS, maxSentMessageBytes: maxMessageBytes, ...limits };
  for (const [name, value] of Object.entries(resolved)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(`channel limit \`${name}\` must be a positive integer, got ${value}`);
    }
  }
  return resolved;
}
