export { type Access, createAccess } from "./auth/access.js";
export { createJwtAuthenticator, type JwtOptions, parseKeySet } from "./auth/jwt.js";
export type { Authenticator, Principal } from "./auth/principal.js";
export { type Action, parseScope, type Scope } from "./auth/scope.js";
export { createTokenList, entryOf, parseTokenLines, type TokenEntry } from "./auth/token-list.js";
export { type WatchedFileOptions, watchFile } from "./auth/watched-file.js";
export {
  DEFAULT_RENDEZVOUS_LIMITS,
  MAX_JWKS_FILE_BYTES,
  MAX_TOKEN_FILE_BYTES,
  type RendezvousLimits,
} from "./limits.js";
export { type ListenOptions, listenRendezvous, type RendezvousListener } from "./listen.js";
export { Rendezvous, type RendezvousOptions } from "./rendezvous.js";
