import type { Channel } from "@codex/channel";
import { CONNECT_TIMEOUT_MS, MAX_SENT_FRAME_BYTES } from "../limits.js";

/** How an exec-server is reached. */
export interface Connector {
  /** Opens a channel; whoever gets it closes it. Called again after a cut only where `canReopen` is true. */
  open(signal: AbortSignal): Promise<Channel>;
  readonly canReopen: boolean;
  /** Frees what the channels came from. Idempotent; never rejects. */
  close?(): Promise<void>;
}

/** How to connect to a websocket. */
export interface WebSocketTarget {
  /** Sent with each upgrade request. */
  headers?: Readonly<Record<string, string>>;
  /** Sent as `Authorization: Bearer`; a function is asked anew for each connection. */
  token?: string | (() => string | Promise<string>);
  /** Certificates (PEM) of issuers that are trusted beside those that Node knows. For `wss:`. */
  ca?: string | Uint8Array;
  connectTimeoutMs?: number;
}

/** Opens connections to an exec-server that listens on a websocket; lost ones can be opened again. */
export function createWebSocketConnector(url: string, target: WebSocketTarget = {}): Connector {
  return {
    canReopen: true,
    async open(signal) {
      const { connectWebSocketChannel } = await import("@codex/channel/websocket");
      const token = typeof target.token === "function" ? await target.token() : target.token;
      const headers = { ...target.headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
      const connectTimeoutMs = target.connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
      const limits = { maxSentMessageBytes: MAX_SENT_FRAME_BYTES };
      const ca = target.ca === undefined ? {} : { ca: target.ca };
      return connectWebSocketChannel(url, { headers, ...ca, connectTimeoutMs, signal, limits });
    },
  };
}

/** One channel that is there already; once it ends there is no other. */
export const createFixedConnector = (channel: Channel, close?: () => Promise<void>): Connector => ({
  canReopen: false,
  open: async () => channel,
  ...(close === undefined ? {} : { close }),
});
