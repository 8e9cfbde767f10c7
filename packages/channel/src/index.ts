export type { Channel, ChannelEnd, CloseOptions, Received } from "./channel.js";
export { ChannelError, type ChannelErrorCode } from "./errors.js";
export { type ChannelLimits, DEFAULT_CHANNEL_LIMITS, DEFAULT_CLOSE_DEADLINE_MS, resolveLimits } from "./limits.js";
export { createMemoryChannelPair } from "./memory/memory-channel.js";
export { createStdioChannel, type StdioStreams } from "./stdio/stdio-channel.js";
