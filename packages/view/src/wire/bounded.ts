import { evictOldest } from "@codex/values";
import { MAX_ADMITTED, MAX_TOKENS } from "../limits.js";
import type { Admission, Token } from "./port.js";

/** Adds a token. Beyond the limit the oldest read-only one is removed, so that making links to read makes none to answer invalid. */
export function addToken(tokens: Map<string, Token>, token: Token): void {
  tokens.set(token.hash, token);
  evictOldest(tokens, MAX_TOKENS, (hash, { rights }) => rights !== "read" || hash === token.hash);
  evictOldest(tokens, MAX_TOKENS);
}

/** Adds an admission. Beyond the limit the oldest one is removed. */
export function addAdmission(admitted: Map<string, Admission>, admission: Admission): void {
  admitted.set(admission.hash, admission);
  evictOldest(admitted, MAX_ADMITTED);
}
