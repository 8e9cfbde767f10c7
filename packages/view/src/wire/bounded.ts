import { MAX_ADMITTED, MAX_TOKENS } from "../limits.js";
import type { Admission, Token } from "./port.js";

/** Adds a token. Beyond the limit the oldest read-only one is removed, so that making links to read makes none to answer invalid. */
export function addToken(tokens: Map<string, Token>, token: Token): void {
  tokens.set(token.hash, token);
  if (tokens.size <= MAX_TOKENS) return;
  const readOnly = [...tokens.values()].find(({ rights, hash }) => rights === "read" && hash !== token.hash);
  const [oldest] = tokens.keys();
  tokens.delete(readOnly?.hash ?? oldest!);
}

/** Adds an admission. Beyond the limit the oldest one is removed. */
export function addAdmission(admitted: Map<string, Admission>, admission: Admission): void {
  admitted.set(admission.hash, admission);
  const [oldest] = admitted.keys();
  if (admitted.size > MAX_ADMITTED) admitted.delete(oldest!);
}
