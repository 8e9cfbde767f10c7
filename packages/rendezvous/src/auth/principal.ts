import type { Scope } from "./scope.js";

/** The owner of a token. */
export interface Principal {
  readonly scopes: readonly Scope[];
  /** When the token expires, milliseconds since 1970; undefined: never. */
  readonly expiresAt?: number | undefined;
}

/** Finds the owner of a bearer token. */
export interface Authenticator {
  /**
   * Undefined if this authenticator does not recognize the token.
   * @throws Refusal `token_expired`
   */
  authenticate(bearer: string): Principal | undefined | Promise<Principal | undefined>;
}
