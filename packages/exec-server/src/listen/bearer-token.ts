import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { lazily } from "@codex/exec-server-protocol";
import * as z from "zod/mini";

/** Which tokens in `Authorization: Bearer` are accepted. */
export type BearerAuth =
  | { kind: "capability" /** SHA-256 of the token. */; sha256: Uint8Array }
  | {
      kind: "signed";
      /** Key of HMAC-SHA-256. */
      secret: Uint8Array;
      issuer: string | undefined;
      audience: string | undefined;
      maxClockSkewSeconds: number;
    };

export type Authorization = { ok: true } | { ok: false; status: number; message: string };

/** Checks the token of a websocket upgrade. `now` gives milliseconds since 1970. */
export const authorizeBearer =
  (auth: BearerAuth | (() => BearerAuth), now: () => number = Date.now) =>
  ({ headers: { authorization } }: IncomingMessage): Authorization => {
    const current = typeof auth === "function" ? auth() : auth;
    const problem = findProblem(current, authorization, Math.floor(now() / 1000));
    return problem === undefined ? { ok: true } : { ok: false, status: 401, message: problem };
  };

function findProblem(auth: BearerAuth, header: string | undefined, nowSeconds: number): string | undefined {
  if (header === undefined) return "missing websocket bearer token";
  // Trimmed first: matching trailing blanks in the pattern would take quadratic time.
  const token = /^bearer +([^ ].*)$/i.exec(header.trim())?.[1];
  if (token === undefined) return "invalid authorization header";
  if (auth.kind === "signed") return findJwtProblem(auth, token, nowSeconds);
  return timingSafeEqual(digest(token), auth.sha256) ? undefined : "invalid websocket bearer token";
}

/** Compared instead of the token: digests have equal length, and comparison time reveals nothing about the token. */
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Unbounded: a token may be valid forever. */
const seconds = lazily(() => z.number().check(z.refine(Number.isInteger)));
const headerSchema = lazily(() =>
  z.object({
    alg: z.literal("HS256"),
    /** Critical extensions (RFC 7515, section 4.1.11); none are supported. */
    crit: z.optional(z.never()),
  }),
);
const claimsSchema = lazily(() =>
  z.object({
    exp: seconds(),
    nbf: z.nullish(seconds()),
    iss: z.nullish(z.string()),
    aud: z.nullish(z.union([z.string(), z.array(z.string())])),
  }),
);
type Claims = z.output<ReturnType<typeof claimsSchema>>;

type SignedAuth = Extract<BearerAuth, { kind: "signed" }>;

function findJwtProblem(auth: SignedAuth, token: string, nowSeconds: number): string | undefined {
  const claims = parseJwt(token, auth.secret);
  if (claims === undefined) return "invalid websocket jwt";
  const { exp, nbf, iss, aud } = claims;
  if (nowSeconds > exp + auth.maxClockSkewSeconds) return "expired websocket jwt";
  if (nbf !== undefined && nbf !== null && nowSeconds < nbf - auth.maxClockSkewSeconds) {
    return "websocket jwt is not valid yet";
  }
  if (auth.issuer !== undefined && iss !== auth.issuer) return "websocket jwt issuer mismatch";
  const audiences = typeof aud === "string" ? [aud] : (aud ?? []);
  if (auth.audience !== undefined && !audiences.includes(auth.audience)) return "websocket jwt audience mismatch";
  return undefined;
}

/** The claims of a JWT signed with HS256 (RFC 7519); undefined for anything else. */
function parseJwt(token: string, secret: Uint8Array): Claims | undefined {
  const [header, payload, signature, ...more] = token.split(".");
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0) return undefined;
  // The text is compared, so that only the canonical encoding of a signature is accepted.
  const expected = createHmac("sha256", secret).update(`${header}.${payload}`).digest("base64url");
  if (!timingSafeEqual(digest(signature), digest(expected))) return undefined;
  if (!headerSchema().safeParse(parsePart(header)).success) return undefined;
  return claimsSchema().safeParse(parsePart(payload)).data;
}

function parsePart(part: string): unknown {
  if (!/^[\w-]+$/.test(part)) return undefined;
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString());
  } catch {
    return undefined;
  }
}
