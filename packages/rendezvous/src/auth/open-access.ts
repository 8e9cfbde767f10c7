import { watchFiles } from "@codex/plain-file";
import type { Logger } from "@codex/telemetry";
import { MAX_JWKS_FILE_BYTES, MAX_TOKEN_FILE_BYTES } from "../limits.js";
import { type Access, createAccess } from "./access.js";
import { createJwtAuthenticator, parseKeySet } from "./jwt.js";
import type { Authenticator } from "./principal.js";
import type { Action, Scope } from "./scope.js";
import { createTokenList, entryOf, parseTokenLines } from "./token-list.js";

/** Access configuration of an operator. */
export interface AccessOptions {
  /** May register every environment; a direct executor signs with it as its secret access key. */
  executorToken?: string | undefined;
  /** May connect to every environment. */
  harnessToken?: string | undefined;
  /** Path of a file of tokens. */
  tokenFile?: string | undefined;
  /** Path of the public keys of JWTs (JWKS), which are accepted from this issuer for this audience. */
  jwksFile?: string | undefined;
  jwtIssuer?: string | undefined;
  jwtAudience?: string | undefined;
  log: Logger;
  /** Milliseconds since 1970. Default `Date.now`. */
  now?: () => number;
}

/**
 * Access by tokens and JWTs; for everyone if nothing is configured. An empty token counts as none.
 * @throws Error for an invalid file, or incomplete JWT options
 */
export function openAccess(options: AccessOptions): Access {
  const { tokenFile, jwksFile, jwtIssuer: issuer, jwtAudience: audience, log, now = Date.now } = options;
  const executorToken = options.executorToken?.trim() || undefined;
  const harnessToken = options.harnessToken?.trim() || undefined;
  const authenticators: Authenticator[] = [];
  const tokens = [
    ...(executorToken === undefined ? [] : [entryOf(executorToken, everywhere("register"))]),
    ...(harnessToken === undefined ? [] : [entryOf(harnessToken, everywhere("connect"))]),
  ];
  if (tokens.length > 0) authenticators.push(createTokenList(() => tokens, now));
  if (tokenFile !== undefined) {
    const file = { paths: [tokenFile], maxBytes: MAX_TOKEN_FILE_BYTES, parse: parseTokenLines, log, now };
    authenticators.push(createTokenList(watchFiles(file), now));
  }
  if (jwksFile && issuer && audience) {
    const keys = watchFiles({ paths: [jwksFile], maxBytes: MAX_JWKS_FILE_BYTES, parse: parseKeySet, log, now });
    authenticators.push(createJwtAuthenticator({ issuer, audience, keys, now }));
  } else if (jwksFile !== undefined || issuer !== undefined || audience !== undefined) {
    throw new Error("--jwks-file, --jwt-issuer and --jwt-audience are needed together");
  }
  if (executorToken === undefined) return createAccess(authenticators);
  return createAccess(authenticators, { secret: executorToken, scopes: everywhere("register"), now });
}

const everywhere = (action: Action): readonly Scope[] => [{ kind: "environment", pattern: "*", actions: [action] }];
