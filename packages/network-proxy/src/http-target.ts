import type { IncomingMessage } from "node:http";
import { type Host, parseHost } from "@codex/network-policy";

/** Where a request of HTTP is to go. */
export interface HttpTarget {
  host: Host;
  port: number;
  /** What the host is asked for: path and query, or `*`. */
  path: string;
  /** The `Host` header that the host gets. */
  authority: string;
}

/** Parses `host:port`, an IPv6 address in brackets. Undefined if it is none, or without a port and `defaultPort`. */
export function parseAuthority(text: string, defaultPort?: number): { host: Host; port: number } | undefined {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? bareIpv6(text);
  const host = parseHost(bracketed === undefined ? (plain ?? "") : `[${bracketed}]`);
  const port = digits === undefined ? defaultPort : Number(digits);
  if (host === undefined || (bracketed !== undefined && host.address?.length !== 16)) return undefined;
  if (port === undefined || port < 1 || port > 65_535) return undefined;
  return { host, port };
}

/** The target of a request, in absolute form or by its `Host`; undefined if it is malformed, or its two names differ. */
export function parseHttpTarget(request: IncomingMessage): HttpTarget | undefined {
  const hosts = request.rawHeaders.filter((_, index, all) => index % 2 === 1 && /^host$/i.test(all[index - 1]!));
  if (hosts.length > 1) return undefined;
  const named = hosts[0] === undefined ? undefined : parseAuthority(hosts[0], 80);
  const url = request.url ?? "";
  if (url.startsWith("/") || (url === "*" && request.method === "OPTIONS")) {
    return named && { ...named, path: url, authority: hosts[0]! };
  }
  const [, userAndHost, rest = ""] = /^http:\/\/([^/?#]*)([^#]*)/i.exec(url) ?? [];
  if (userAndHost === undefined) return undefined;
  const authority = userAndHost.slice(userAndHost.lastIndexOf("@") + 1);
  const target = parseAuthority(authority, 80);
  if (target === undefined) return undefined;
  if (hosts[0] !== undefined && (named?.host.text !== target.host.text || named.port !== target.port)) return undefined;
  return { ...target, path: rest.startsWith("/") ? rest : `/${rest}`, authority };
}

/** `CONNECT` takes IPv6 without brackets from some clients: all up to the last colon. */
function bareIpv6(text: string): string[] {
  const colon = text.lastIndexOf(":");
  if (!/^[0-9a-f.]*:[0-9a-f:.]*:\d{1,5}$/i.test(text)) return [];
  return [text, text.slice(0, colon), "", text.slice(colon + 1)].map((part) => part);
}
