import type { Channel } from "@codex/channel";
import { defined } from "@codex/values";
import { CONNECT_TIMEOUT_MS, MAX_SENT_FRAME_BYTES } from "../limits.js";

/** Opens channels to an exec-server. */
export interface Connector {
  /**
   * Opens a channel, which the caller owns. Called again after a disconnect only if `canReopen` is true. An error with `isFinal: true`, of
   * this or of the channel, also as a cause, says that another attempt is of no use.
   */
  open(signal: AbortSignal): Promise<Channel>;
  readonly canReopen: boolean;
  /** `open` may also be called while another channel is open, for a separate session. Default false. */
  readonly canOpenSeveral?: boolean;
  /** Frees the resources behind the channels. Idempotent; never rejects. */
  close?(): Promise<void>;
}

/** How to connect to a websocket. */
export interface WebSocketTarget {
  /** Sent with each upgrade request. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as `Authorization: Bearer`; a function is called for each connection. */
  token?: string | (() => string | Promise<string>);
  /** CA certificates in PEM for `wss:`, trusted in addition to those of Node. */
  ca?: string | Uint8Array;
  /** Certificate and key (PEM) by which this client is known to a server that asks for them, for `wss:`. */
  identity?: { cert: string; key: string };
  connectTimeoutMs?: number;
}

/** Opens connections to an exec-server that listens on a websocket; lost ones can be opened again. */
export function createWebSocketConnector(url: string, target: WebSocketTarget = {}): Connector {
  return {
    canReopen: true,
    canOpenSeveral: true,
    async open(signal) {
      const { connectWebSocketChannel } = await import("@codex/channel/websocket");
      const token = typeof target.token === "function" ? await target.token() : target.token;
      const headers = { ...target.headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
      const connectTimeoutMs = target.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
      const limits = { maxSentMessageBytes: MAX_SENT_FRAME_BYTES };
      const { ca, identity } = target;
      return connectWebSocketChannel(url, { headers, ...defined({ ca, identity }), connectTimeoutMs, signal, limits });
    },
  };
}

/** A connector with one existing channel, which cannot be reopened. */
export const createFixedConnector = (channel: Channel, close?: () => Promise<void>): Connector => ({
  canReopen: false,
  open: async () => channel,
  ...defined({ close }),
});
