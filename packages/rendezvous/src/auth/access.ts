import type { IncomingHttpHeaders } from "node:http";
import { MAX_BEARER_BYTES } from "../limits.js";
import { Refusal } from "../refusal.js";
import type { Authenticator, Principal } from "./principal.js";
import { type Action, allows } from "./scope.js";
import { isSignedWith, type SignedRequest } from "./sigv4.js";

/** Authorizes requests. */
export interface Access {
  /** False if no authentication is configured: every client may do everything. */
  readonly isGuarded: boolean;
  /** @throws Refusal `unauthenticated`, `token_expired` or `wrong_scope` */
  require(headers: IncomingHttpHeaders, environmentId: string, action: Action): Promise<Principal>;
  /** The same for a signed request. @throws Refusal as `require` */
  requireSigned(request: SignedRequest, environmentId: string, action: Action): Promise<Principal>;
  /** Returns which environments may be connected to. @throws Refusal `unauthenticated` or `token_expired` */
  requireHarness(
    headers: IncomingHttpHeaders,
  ): Promise<{ principal: Principal; mayConnect: (environmentId: string) => boolean }>;
  /** @throws Refusal as `require` */
  requireMetrics(headers: IncomingHttpHeaders): Promise<void>;
}

/** A secret access key that signs requests, as an alternative to a token. */
export interface SigningKey extends Principal {
  secret: string;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** Grants access to holders of tokens and of a signing key; to everyone without authenticators. */
export function createAccess(authenticators: readonly Authenticator[], signing?: SigningKey): Access {
  if (authenticators.length === 0) {
    const anybody = async () => ({ scopes: [] });
    const everywhere = async () => ({ principal: { scopes: [] }, mayConnect: () => true });
    return {
      isGuarded: false,
      require: anybody,
      requireSigned: anybody,
      requireHarness: everywhere,
      requireMetrics: async () => {},
    };
  }
  const find = async (headers: IncomingHttpHeaders): Promise<Principal> => {
    const bearer = readBearer(headers.authorization);
    if (bearer === undefined) throw new Refusal("unauthenticated", "a bearer token is required");
    for (const authenticator of authenticators) {
      const principal = await authenticator.authenticate(bearer);
      if (principal !== undefined) return principal;
    }
    throw new Refusal("unauthenticated", "the bearer token is not accepted");
  };
  return {
    isGuarded: true,
    async require(headers, environmentId, action) {
      const principal = await find(headers);
      if (allows(principal.scopes, environmentId, action)) return principal;
      throw new Refusal("wrong_scope", `the token lacks the scope environment:${environmentId}:${action}`);
    },
    async requireSigned(request, environmentId, action) {
      if (signing === undefined || !isSignedWith(signing.secret, request, signing.now())) {
        throw new Refusal("unauthenticated", "the signature is not accepted");
      }
      if (allows(signing.scopes, environmentId, action)) return signing;
      throw new Refusal("wrong_scope", `the key lacks the scope environment:${environmentId}:${action}`);
    },
    async requireHarness(headers) {
      const principal = await find(headers);
      return { principal, mayConnect: (environmentId) => allows(principal.scopes, environmentId, "connect") };
    },
    async requireMetrics(headers) {
      const { scopes } = await find(headers);
      const mayRead = scopes.some((scope) => scope.kind === "metrics" || scope.pattern === "*");
      if (!mayRead) throw new Refusal("wrong_scope", "the token lacks the scope metrics");
    },
  };
}

/** Reads the token of `Authorization: Bearer`. */
function readBearer(header: string | undefined): string | undefined {
  if (header === undefined || Buffer.byteLength(header) > MAX_BEARER_BYTES) return undefined;
  return /^bearer +([\x21-\x7e]+)$/i.exec(header.trim())?.[1];
}
