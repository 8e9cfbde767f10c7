import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import {
  type AuthInfo,
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
  validateHostHeader,
  validateOriginHeader,
} from "@modelcontextprotocol/server";

/** A bearer token and the client that it identifies. */
export interface ClientToken {
  token: string;
  /** Names the client: clients with different names do not see each other's sessions. 1 to 64 characters. */
  client: string;
}

/** Names under which a listener on loopback is reached. */
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Why a request is refused, or undefined. `Host` must be a loopback name, the address of the connection or one of `names`, against
 * DNS rebinding; `Origin`, which browsers send, must be that host.
 */
export function findHeaderProblem({ headers, socket }: IncomingMessage, names: readonly string[]): string | undefined {
  const { localAddress } = socket;
  const own = localAddress === undefined ? [] : [toHostname(localAddress)];
  const host = validateHostHeader(headers.host, [...LOOPBACK_NAMES, ...own, ...names]);
  if (!host.ok) return host.message;
  const origin = validateOriginHeader(headers.origin, [host.hostname]);
  if (!origin.ok) return origin.message;
  // A page of another port on this host is another site.
  if (headers.origin === undefined || new URL(headers.origin).host === headers.host) return undefined;
  return `Invalid Origin: ${headers.origin}`;
}

/** An address as the hostname of a URL. */
export function toHostname(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  return address.includes(":") ? `[${address}]` : address;
}

/** Resolves with the client of a request, or with the response that refuses it. Compares tokens in constant time. */
export function createAuthenticator(
  tokens: readonly ClientToken[] | (() => readonly ClientToken[]),
): (request: Request) => Promise<AuthInfo | Response> {
  const getTokens = typeof tokens === "function" ? tokens : () => tokens;
  return requireBearerAuth({
    verifier: {
      verifyAccessToken(token) {
        const given = digest(token);
        // Compares with all of them, so that the time does not depend on which one matches.
        const known = getTokens().map(({ token: each, client }) => ({ digest: digest(each), client }));
        const [found] = known.filter((one) => timingSafeEqual(one.digest, given));
        if (found === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, "the bearer token is wrong");
        const expiresAt = Math.ceil(Date.now() / 1000) + TOKEN_S;
        return Promise.resolve({ token, clientId: found.client, scopes: [], expiresAt });
      },
    },
  });
}

const digest = (token: string): Buffer => createHash("sha256").update(token).digest();

/** Tokens do not expire, but the check requires a time; seconds. */
const TOKEN_S = 3_600;
