import { messageOf } from "@codex/values";
import type { JSONWebKeySet, JWTPayload } from "jose";
import * as z from "zod/mini";
import { CLOCK_SKEW_S } from "../limits.js";
import { Refusal } from "../refusal.js";
import type { Authenticator } from "./principal.js";
import { pickScopes } from "./scope.js";

/** Which JWTs are accepted. */
export interface JwtOptions {
  issuer: string;
  audience: string;
  /** Returns the current public keys. */
  keys: () => JSONWebKeySet;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** Asymmetric algorithms only: with a shared key, every verifier of tokens could also issue them. */
const ALGORITHMS = ["EdDSA", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256", "RS384", "RS512"];

const keySetSchema = z.object({
  keys: z
    .array(z.looseObject({ kty: z.string() }).check(z.refine((key) => !("d" in key) && !("k" in key))))
    .check(z.minLength(1)),
});

/** Parses a JWKS. @throws Error if it is invalid, or contains a secret or private key */
export function parseKeySet(text: string): JSONWebKeySet {
  const parsed = keySetSchema.safeParse(JSON.parse(text));
  if (!parsed.success) throw new Error("it is not a set of public keys (JWKS)");
  // Keys are validated when a token refers to them.
  return parsed.data as JSONWebKeySet;
}

/**
 * Accepts JWTs (RFC 7519) signed by a key of the set, with `iss`, `aud` and `exp`. Scopes are in `scope`, separated by
 * spaces, or in an array `scope` or `scopes`; unrelated ones are ignored.
 */
export function createJwtAuthenticator({ issuer, audience, keys, now }: JwtOptions): Authenticator {
  return {
    async authenticate(bearer) {
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(bearer)) return undefined;
      // Loaded with the first JWT, to keep the start fast.
      const { createLocalJWKSet, errors, jwtVerify } = await import("jose");
      try {
        const { payload } = await jwtVerify(bearer, createLocalJWKSet(keys()), {
          issuer,
          audience,
          algorithms: ALGORITHMS,
          requiredClaims: ["exp"],
          clockTolerance: CLOCK_SKEW_S,
          currentDate: new Date(now()),
        });
        return { scopes: pickScopes(scopesOf(payload)), expiresAt: (payload.exp! + CLOCK_SKEW_S) * 1000 };
      } catch (error) {
        if (error instanceof errors.JWTExpired) throw new Refusal("token_expired", "the token has expired");
        if (error instanceof errors.JOSEError) return undefined;
        throw new Error(`a token could not be checked: ${messageOf(error)}`, { cause: error });
      }
    },
  };
}

function scopesOf({ scope, scopes }: JWTPayload): string[] {
  const given = scope ?? scopes;
  if (typeof given === "string") return given.split(" ");
  return Array.isArray(given) ? given.filter((each): each is string => typeof each === "string") : [];
}
