import type { IncomingHttpHeaders } from "node:http";
import { MAX_BEARER_BYTES } from "../limits.js";
import { Refusal } from "../refusal.js";
import type { Authenticator, Principal } from "./principal.js";
import { type Action, allows } from "./scope.js";

/** Decides who may do what. */
export interface Access {
  /** False where everybody who can connect may do everything. */
  readonly isGuarded: boolean;
  /** @throws Refusal `unauthenticated`, `token_expired` or `wrong_scope` */
  require(headers: IncomingHttpHeaders, environmentId: string, action: Action): Promise<Principal>;
  /** @throws Refusal as `require` */
  requireMetrics(headers: IncomingHttpHeaders): Promise<void>;
}

/** Access for the owners of tokens; without authenticators, for everybody. */
export function createAccess(authenticators: readonly Authenticator[]): Access {
  if (authenticators.length === 0) {
    return { isGuarded: false, require: async () => ({ scopes: [] }), requireMetrics: async () => {} };
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
    async requireMetrics(headers) {
      const { scopes } = await find(headers);
      const mayRead = scopes.some((scope) => scope.kind === "metrics" || scope.pattern === "*");
      if (!mayRead) throw new Refusal("wrong_scope", "the token lacks the scope metrics");
    },
  };
}

/** The token of `Authorization: Bearer`. */
function readBearer(header: string | undefined): string | undefined {
  if (header === undefined || Buffer.byteLength(header) > MAX_BEARER_BYTES) return undefined;
  return /^bearer +([\x21-\x7e]+)$/i.exec(header.trim())?.[1];
}
