export { type Access, createAccess, type SigningKey } from "./auth/access.js";
export { createJwtAuthenticator, type JwtOptions } from "./auth/jwt.js";
export { type AccessOptions, openAccess } from "./auth/open-access.js";
export type { Authenticator, Principal } from "./auth/principal.js";
export type { Action, Scope } from "./auth/scope.js";
export type { SignedRequest } from "./auth/sigv4.js";
export { createTokenList, entryOf, type TokenEntry } from "./auth/token-list.js";
export { DEFAULT_RENDEZVOUS_LIMITS, type RendezvousLimits } from "./limits.js";
export { type ListenOptions, listenRendezvous, type RendezvousListener } from "./listen.js";
export type { Cluster, LocalNode, NodeRequest } from "./registry/cluster.js";
export { Rate } from "./registry/rate.js";
export {
  type ExecutorLink,
  type Registration,
  Registrations,
  type RegistrationsOptions,
} from "./registry/registrations.js";
export { Rendezvous, type RendezvousOptions } from "./rendezvous.js";
