import type { Scope } from "./scope.js";

/** Who presented a token. */
export interface Principal {
  readonly scopes: readonly Scope[];
  /** Milliseconds since 1970 after which the token is worth nothing; undefined for never. */
  readonly expiresAt?: number | undefined;
}

/** Finds the owner of a bearer token. */
export interface Authenticator {
  /**
   * Undefined where the token is not one of this authenticator's.
   * @throws Refusal `token_expired`
   */
  authenticate(bearer: string): Principal | undefined | Promise<Principal | undefined>;
}
