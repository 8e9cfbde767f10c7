import { createHash, timingSafeEqual } from "node:crypto";
import { MAX_SCOPES, MAX_TOKENS } from "../limits.js";
import { Refusal } from "../refusal.js";
import type { Authenticator, Principal } from "./principal.js";
import { parseScope, type Scope } from "./scope.js";

/** One accepted token. */
export interface TokenEntry extends Principal {
  /** SHA-256 of the token. */
  readonly sha256: Uint8Array;
}

/** Creates the entry of a token. */
export const entryOf = (token: string, scopes: readonly Scope[]): TokenEntry => ({ sha256: sha256(token), scopes });

/** Accepts the tokens of a list, compared in constant time. */
export const createTokenList = (read: () => readonly TokenEntry[], now: () => number = Date.now): Authenticator => ({
  authenticate(bearer) {
    const digest = sha256(bearer);
    let found: TokenEntry | undefined;
    for (const entry of read()) if (timingSafeEqual(digest, entry.sha256)) found = entry;
    if (found?.expiresAt !== undefined && found.expiresAt <= now())
      throw new Refusal("token_expired", "the token has expired");
    return found;
  },
});

/**
 * Parses lines of `SHA256 SCOPE… [expires=TIME]`; the hash is 64 hexadecimal digits, the time as in RFC 3339. Blank lines and
 * comments (`#`) are skipped.
 * @throws Error with the line number but without its content
 */
export function parseTokenLines(text: string): TokenEntry[] {
  const entries = text.split("\n").flatMap((line, index) => {
    const words = line.trim().split(/\s+/);
    return words[0] === "" || words[0]!.startsWith("#") ? [] : [parseEntry(words, index + 1)];
  });
  if (entries.length > MAX_TOKENS) throw new Error(`there are ${entries.length} tokens, more than ${MAX_TOKENS}`);
  return entries;
}

function parseEntry([hash = "", ...words]: readonly string[], line: number): TokenEntry {
  if (!/^[0-9a-f]{64}$/i.test(hash))
    throw new Error(`line ${line} does not begin with a SHA-256 of 64 hexadecimal digits`);
  const times = words.filter((word) => word.startsWith("expires="));
  const scopes = words.filter((word) => !word.startsWith("expires=")).map(parseScope);
  if (scopes.length === 0) throw new Error(`line ${line} has no scope`);
  if (scopes.length > MAX_SCOPES) throw new Error(`line ${line} has ${scopes.length} scopes, more than ${MAX_SCOPES}`);
  if (!scopes.every((scope) => scope !== undefined)) {
    throw new Error(
      `line ${line} has a word that is not a scope; expected environment:ID:register, environment:ID:connect or metrics`,
    );
  }
  if (times.length > 1) throw new Error(`line ${line} has ${times.length} times of expiry`);
  const expiresAt = times[0] === undefined ? undefined : parseTime(times[0].slice("expires=".length), line);
  return { sha256: Buffer.from(hash, "hex"), scopes, expiresAt };
}

const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function parseTime(text: string, line: number): number {
  const time = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw new Error(`line ${line} has a time that is not like 2030-01-31T12:00:00Z`);
  return time;
}

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
