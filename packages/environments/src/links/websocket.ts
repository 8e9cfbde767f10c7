import { EXEC_SERVER_SUBPROTOCOL } from "@codex/exec-server-protocol";
import { EXECUTOR_SUBPROTOCOL } from "@codex/executor-protocol";
import { defined } from "@codex/values";
import { CONNECT_TIMEOUT_MS } from "../limits.js";
import type { EnvironmentLink } from "./link.js";
import { listUrlSecrets } from "./redact.js";

/** A websocket address and how to connect to it. */
export interface WebSocketAddress {
  /** `ws:`, `wss:` or `unix:`. */
  url: string;
  /** Sent as `Authorization: Bearer`; a function is called for each connection. */
  token?: string | (() => string | Promise<string>);
  /** Additional trusted CA certificates (PEM). */
  ca?: string | Uint8Array;
  /** Certificate and key (PEM) by which this client is known to a server that asks for them, for `wss:`. */
  identity?: { cert: string; key: string };
  /** Milliseconds; default 10000. */
  connectTimeoutMs?: number;
}

/** A link to an exec-server or executor that listens on a websocket. */
export function createWebSocketLink({ url, token, ca, identity, connectTimeoutMs }: WebSocketAddress): EnvironmentLink {
  return {
    canOpenSeveral: true,
    secrets: [...listUrlSecrets(url), ...(typeof token === "string" ? [token] : [])],
    async open(signal) {
      const sent = typeof token === "function" ? await token() : token;
      const headers: Record<string, string> = sent === undefined ? {} : { Authorization: `Bearer ${sent}` };
      if (url.includes(CLEAR_RELAY) && URL.canParse(url)) {
        const { isClearRelayUrl, openClearChannel } = await import("@codex/relay");
        const timeoutMs = connectTimeoutMs ?? CONNECT_TIMEOUT_MS;
        if (isClearRelayUrl(url)) return { channel: await openClearChannel({ url, headers, ca, timeoutMs, signal }) };
      }
      // Loaded on demand.
      const { connectWebSocketChannel } = await import("@codex/channel/websocket");
      const channel = await connectWebSocketChannel(url, {
        headers,
        ...defined({ ca, identity }),
        connectTimeoutMs: connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
        signal,
        subprotocols: [EXEC_SERVER_SUBPROTOCOL, EXECUTOR_SUBPROTOCOL],
        limits: { maxSentMessageBytes: MAX_SENT_FRAME_BYTES },
      });
      // A wrong choice is detected by the first response: a server may choose whatever is offered first.
      return channel.subprotocol === EXECUTOR_SUBPROTOCOL ? { channel, serves: "executor" } : { channel };
    },
  };
}

/** Codex 0.169.0 drops the connection at a larger frame. */
const MAX_SENT_FRAME_BYTES = 16 * 1024 * 1024;

/** In the query of a URL of the old relay, whose frames are not encrypted. */
const CLEAR_RELAY = "role=harness";
