import { isIP } from "node:net";
import { CommandError, EXIT } from "./exit-codes.js";

export type ListenTarget = { kind: "stdio" } | { kind: "websocket"; host: string; port: number };

/** `stdio`, `stdio://` or `ws://HOST:PORT`; an IPv6 host is in brackets, port 0 is a free one. */
export function parseListenUrl(text: string): ListenTarget {
  if (text === "stdio" || text === "stdio://") return { kind: "stdio" };
  const match = /^ws:\/\/(\[[0-9a-fA-F:.]+\]|[^/:[\]]+):(\d{1,5})\/?$/.exec(text);
  const host = match?.[1]?.replace(/^\[|\]$/g, "");
  const port = Number(match?.[2]);
  if (host === undefined || port > 65_535) {
    throw new CommandError(
      `--listen ${JSON.stringify(text)} is no address; expected stdio:// or ws://HOST:PORT with a port from 0 to 65535`,
      EXIT.usage,
    );
  }
  return { kind: "websocket", host, port };
}

/** Whether an address is reached from this machine only. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host === "localhost";
}
