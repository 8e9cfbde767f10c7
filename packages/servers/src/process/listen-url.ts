import { isIP } from "node:net";
import { CommandError, SERVER_EXIT } from "./command-error.js";
import { findInheritedSocket } from "./inherited-socket.js";

export type ListenTarget = { kind: "stdio" } | ListenPlace;

/** Where websockets are accepted; `fd` is of a socket that listens there already. */
export type ListenPlace = ({ kind: "websocket"; host: string; port: number } | { kind: "unix"; socketPath: string }) & {
  fd?: number;
};

/** `stdio`, `stdio://`, `ws://HOST:PORT`, `unix:///PATH` or `fd://`; an IPv6 host is in brackets, port 0 is a free one. @throws CommandError */
export function parseListenUrl(text: string): ListenTarget {
  if (text === "stdio" || text === "stdio://") return { kind: "stdio" };
  const socketPath = /^unix:\/\/(\/.+)$/s.exec(text)?.[1];
  if (socketPath !== undefined) return { kind: "unix", socketPath };
  const inherited = findInheritedPlace(text);
  if (inherited !== undefined) return inherited;
  const match = /^ws:\/\/(\[[0-9a-fA-F:.]+\]|[^/:[\]]+):(\d{1,5})\/?$/.exec(text);
  const host = match?.[1]?.replace(/^\[|\]$/g, "");
  const port = Number(match?.[2]);
  if (host === undefined || port > 65_535) {
    throw new CommandError(
      `--listen ${JSON.stringify(text)} is not an address; expected stdio://, unix:///PATH, fd://, or ws://HOST:PORT with a port from 0 to 65535${hintFor(text)}`,
      SERVER_EXIT.usage,
    );
  }
  return { kind: "websocket", host, port };
}

/** The place of a socket that a service manager has passed; undefined for another address than `fd://…`. @throws CommandError */
export function findInheritedPlace(text: string): ListenPlace | undefined {
  const socket = findInheritedSocket(text);
  if (socket === undefined) return undefined;
  if ("path" in socket) return { kind: "unix", socketPath: socket.path, fd: socket.fd };
  return { kind: "websocket", ...socket };
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
  /** Undefined for a socket that listens already, which says nothing about it. */
  isTls: boolean | undefined;
  /** Of a socket that listens there already. */
  fd?: number;
}

/**
 * `http://HOST:PORT`, `https://HOST:PORT` or `fd://`; an IPv6 host is in brackets, port 0 is a free one.
 * @param others what else the caller accepts, for the error
 * @throws CommandError
 */
export function parseHttpListenUrl(text: string, others = ""): HttpListenPlace {
  const [, scheme, name, digits] = /^(https?):\/\/(\[[0-9a-fA-F:.]+\]|[^/:[\]@]+):(\d{1,5})\/?$/.exec(text) ?? [];
  const port = Number(digits);
  if (scheme !== undefined && name !== undefined && port <= 65_535) {
    return { host: name.replace(/^\[|\]$/g, ""), port, isTls: scheme === "https" };
  }
  const socket = findInheritedSocket(text);
  if (socket !== undefined && "host" in socket) return { ...socket, isTls: undefined };
  throw new CommandError(
    `--listen ${JSON.stringify(text)} is not an address; expected ${others}http://HOST:PORT or https://HOST:PORT with a port from 0 to 65535, or fd:// of a TCP socket`,
    SERVER_EXIT.usage,
  );
}

/** Whether an address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  if (isIP(host) === 4) return host.startsWith("127.");
  return host === "::1" || host === "localhost";
}
