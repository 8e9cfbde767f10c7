import type { Channel } from "@codex/channel";

/** Hides the binary frames of a channel, for a peer that supports only JSON. */
export const withoutBinary = (channel: Channel): Channel => ({
  send: (value) => channel.send(value),
  sendEncoded: (json, onWritten) => channel.sendEncoded(json, onWritten),
  receive: () => channel.receive(),
  close: (options) => channel.close(options),
  [Symbol.asyncDispose]: () => channel.close(),
  closed: channel.closed,
  ...(channel.isPeerAlive === undefined ? {} : { isPeerAlive: (ms: number) => channel.isPeerAlive!(ms) }),
});
