import type { Channel } from "@codex/channel";
import { defined, messageOf } from "@codex/values";
import { OrchestratorError } from "../errors.js";

/** Options of `connectWebSocket`. */
export interface WebSocketOptions {
  /** Sent as `Authorization: Bearer …`; over `ws://` only to this machine. */
  token?: string;
  headers?: Readonly<Record<string, string>>;
  /** Additional trusted CA certificates (PEM), for `wss:`. */
  ca?: string | Uint8Array;
  /** Certificate and key (PEM) by which this client is known to a server that asks for them, for `wss:`. */
  identity?: { cert: string; key: string };
  /** Milliseconds until the connection must be open. Default 10000. */
  timeoutMs?: number;
  /** Aborts connecting; has no effect once it is connected. */
  signal?: AbortSignal;
}

/**
 * Connects to an executor that listens on a websocket: `connectWebSocket("wss://build.example:7000", { token })`. The
 * caller owns the channel until it is attached.
 * @throws OrchestratorError `connect_failed` or `connect_timeout`, and `bad_option` for a token that would be sent unencrypted
 *   over a network
 */
export async function connectWebSocket(url: string, options: WebSocketOptions = {}): Promise<Channel> {
  const { token, headers, ca, identity, timeoutMs, signal } = options;
  if (token !== undefined) checkConfidential(url);
  // Loaded on demand: stdio executors do not need it.
  const { connectWebSocketChannel } = await import("@codex/channel/websocket");
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  try {
    return await connectWebSocketChannel(url, {
      headers: { ...headers, ...authorization },
      ...defined({ ca, identity, connectTimeoutMs: timeoutMs, signal }),
    });
  } catch (cause) {
    const timedOut = cause instanceof Error && "code" in cause && cause.code === "connect_timeout";
    throw new OrchestratorError(timedOut ? "connect_timeout" : "connect_failed", messageOf(cause), { cause });
  }
}

function checkConfidential(url: string): void {
  if (!URL.canParse(url)) return;
  const { protocol, hostname } = new URL(url);
  if (protocol !== "ws:" || LOOPBACK.test(hostname)) return;
  const fix = "use wss://, or a loopback address through a tunnel";
  throw new OrchestratorError("bad_option", `a token for \`${hostname}\` would travel unencrypted over ws://; ${fix}`);
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;
