import { isIP } from "node:net";
import { CommandError, SERVER_EXIT } from "./command-error.js";

export type ListenTarget = { kind: "stdio" } | ListenPlace;

/** Where websockets are accepted. */
export type ListenPlace = { kind: "websocket"; host: string; port: number } | { kind: "unix"; socketPath: string };

/** `stdio`, `stdio://`, `ws://HOST:PORT` or `unix:///PATH`; an IPv6 host is in brackets, port 0 is a free one. */
export function parseListenUrl(text: string): ListenTarget {
  if (text === "stdio" || text === "stdio://") return { kind: "stdio" };
  const socketPath = /^unix:\/\/(\/.+)$/s.exec(text)?.[1];
  if (socketPath !== undefined) return { kind: "unix", socketPath };
  const match = /^ws:\/\/(\[[0-9a-fA-F:.]+\]|[^/:[\]]+):(\d{1,5})\/?$/.exec(text);
  const host = match?.[1]?.replace(/^\[|\]$/g, "");
  const port = Number(match?.[2]);
  if (host === undefined || port > 65_535) {
    throw new CommandError(
      `--listen ${JSON.stringify(text)} is not an address; expected stdio://, unix:///PATH, or ws://HOST:PORT with a port from 0 to 65535${hintFor(text)}`,
      SERVER_EXIT.usage,
    );
  }
  return { kind: "websocket", host, port };
}

/** A suggestion for a likely mistake; empty for none. */
function hintFor(text: string): string {
  if (/^wss:/i.test(text)) return "; a listener speaks TLS on ws:// with --tls-cert and --tls-key";
  const address = /^\d+$/.test(text) ? `:${text}` : text;
  const [, host = "", port] = /^(?:https?:\/\/)?(\[[0-9a-f:.]+\]|[\w.-]*):(\d{1,5})\/?$/i.exec(address) ?? [];
  if (port !== undefined) return `; did you mean ws://${host || "127.0.0.1"}:${port}?`;
  return text.startsWith("/") ? `; did you mean unix://${text}?` : "";
}

/** Address of an HTTP listener; `host` without brackets. */
export interface HttpListenPlace {
  host: string;
  port: number;
  isTls: boolean;
}

/**
 * `http://HOST:PORT` or `https://HOST:PORT`; an IPv6 host is in brackets, port 0 is a free one.
 * @param others what else the caller accepts, for the error
 * @throws CommandError
 */
export function parseHttpListenUrl(text: string, others = ""): HttpListenPlace {
  const [, scheme, name, digits] = /^(https?):\/\/(\[[0-9a-fA-F:.]+\]|[^/:[\]@]+):(\d{1,5})\/?$/.exec(text) ?? [];
  const port = Number(digits);
  if (scheme !== undefined && name !== undefined && port <= 65_535) {
    return { host: name.replace(/^\[|\]$/g, ""), port, isTls: scheme === "https" };
  }
  throw new CommandError(
    `--listen ${JSON.stringify(text)} is not an address; expected ${others}http://HOST:PORT or https://HOST:PORT with a port from 0 to 65535`,
    SERVER_EXIT.usage,
  );
}

/** Whether an address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host === "localhost";
}

/** Whether this names stdin and stdout instead of an address. */
export const isStdio = (listen: string): boolean => listen === "stdio" || listen === "stdio://";

/** Refuses what stdio would ignore. @param options of a listener, by their flags @throws CommandError */
export function refuseOnStdio(options: Readonly<Record<string, unknown>>): void {
  const [flag] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  if (flag !== undefined) throw new CommandError(`${flag} is for a listener; stdio does not use it`, SERVER_EXIT.usage);
}
