import type { Channel, ChannelLimits } from "@codex/channel";
import { type Clock, systemClock } from "@codex/clock";
import type { Logger } from "@codex/telemetry";
import { MAX_MESSAGE_BYTES, SOCKET_CLOSE_MS } from "../limits.js";
import { type Registration, type RegistryAddress, registerDirect } from "../registry/registry.js";
import { FrameSocket } from "../socket/frame-socket.js";
import { createMessageChannel } from "../socket/message-channel.js";
import { type EndedSocket, keepServing } from "./keep-serving.js";

/** Options of a direct executor. */
export interface DirectExecutorOptions {
  registry: RegistryAddress;
  /** Headers of a websocket upgrade to this URL; called for each upgrade. */
  authorizeSocket(url: string): Record<string, string>;
  /** Called with the channel of each connection, which it then owns. */
  onStream(channel: Channel): void;
  limits?: Partial<ChannelLimits>;
  clock?: Clock;
  /** Random number from 0 to 1. */
  random?: () => number;
  log?: Logger | undefined;
}

/** Registers, dials, and exchanges JSON without relay frames with the connected harness; repeats this until it is closed. */
export function serveDirectExecutor(options: DirectExecutorOptions): { close(): Promise<void> } {
  const { registry, clock = systemClock, random = Math.random, log, limits } = options;
  const abort = new AbortController();
  const { signal } = abort;
  let registration: Registration | undefined;
  let channel: Channel | undefined;
  const serveOnce = async (onConnected: () => void): Promise<EndedSocket> => {
    registration ??= await registerDirect(registry, signal);
    const { url } = registration;
    const headers = options.authorizeSocket(url);
    const socket = await FrameSocket.dial(url, {
      clock,
      headers,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      ca: registry.ca,
      signal,
    });
    onConnected();
    return new Promise((resolve) => {
      const framing = { encode: (json: Buffer) => json.toString(), decode: (data: Buffer) => data };
      channel = createMessageChannel(socket, framing, {
        limits,
        onClosed: (reason) => resolve({ reason, spreadMs: socket.spreadMs }),
      });
      options.onStream(channel);
    });
  };
  const onRefused = () => {
    registration = undefined;
  };
  const running = keepServing({ serveOnce, onRefused, clock, random, log, signal });
  const close = async () => {
    abort.abort();
    await channel?.close({ deadlineMs: SOCKET_CLOSE_MS });
    await running;
  };
  return { close };
}
