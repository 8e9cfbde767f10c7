import { defined, messageOf } from "@codex/values";
import type { AuthProvider, FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { REFRESH_EARLY_MS } from "../limits.js";
import type { CredentialStore, Credentials, OAuthServer } from "./credential-store.js";
import { limitTime } from "./limit-time.js";

/** A server wants a login that it has not had, or that is not valid any more. */
class LoginNeededError extends Error {
  override readonly name = "LoginNeededError";

  constructor({ name }: OAuthServer, why: string) {
    super(`${why}: \`codex mcp login ${name}\``);
  }
}

/** What tokens are taken from. */
export interface TokenProviderOptions {
  store: CredentialStore;
  /** Makes the requests to the authorization server. */
  fetch: FetchLike;
  /** As configured for the server; default the one that it names. */
  resource?: string | undefined;
  /** Told each token before it is used, so that no message shows it. */
  onSecret(secret: string): void;
  /** Milliseconds since 1970. */
  now?: () => number;
}

/**
 * The tokens of a server that somebody has logged in to, refreshed before they expire and when the server rejects one. A refresh token may be
 * good for one use, so of several processes one refreshes and the others take what it got.
 */
export function createTokenProvider(server: OAuthServer, options: TokenProviderOptions): AuthProvider {
  const { store, onSecret, now = Date.now } = options;
  const show = (credentials: Credentials): string => {
    onSecret(credentials.accessToken);
    if (credentials.refreshToken !== undefined) onSecret(credentials.refreshToken);
    return credentials.accessToken;
  };
  /** The one that the server was given last. */
  let used: string | undefined;

  const refresh = (rejected: string | undefined): Promise<string> =>
    store.alone(server, async () => {
      const known = await store.read(server);
      if (known === undefined) throw new LoginNeededError(server, "it wants a login");
      // Somebody else has refreshed it meanwhile.
      if (known.accessToken !== rejected) return show(known);
      if (known.refreshToken === undefined) throw new LoginNeededError(server, "its login has expired");
      show(known);
      const next = await requestTokens(server, known, options);
      if (next === "elsewhere")
        throw new LoginNeededError(server, "it wants a login with another authorization server");
      if (next === "rejected") {
        await store.write(server, undefined);
        throw new LoginNeededError(server, "its login is not valid any more");
      }
      const refreshed = toCredentials(next, known, now());
      await store.write(server, refreshed);
      return show(refreshed);
    });

  return {
    async token() {
      const known = await store.read(server);
      if (known === undefined) return undefined;
      const { accessToken, refreshToken, expiresAt = Number.POSITIVE_INFINITY } = known;
      used = show(known);
      if (expiresAt - REFRESH_EARLY_MS > now() || refreshToken === undefined) return used;
      try {
        used = await refresh(accessToken);
      } catch (error) {
        // Good for a moment still.
        if (expiresAt <= now()) throw error;
      }
      return used;
    },
    async onUnauthorized() {
      used = await refresh(used);
    },
  };
}

/** The credentials that a response amounts to. @param before those it was asked for with */
export function toCredentials(
  tokens: OAuthTokens,
  before: Pick<Credentials, "issuer" | "clientId" | "clientSecret" | "scopes"> & { refreshToken?: string | undefined },
  now: number,
): Credentials {
  const { access_token, refresh_token, expires_in, scope } = tokens;
  return {
    issuer: before.issuer,
    clientId: before.clientId,
    clientSecret: before.clientSecret,
    accessToken: access_token,
    refreshToken: refresh_token ?? before.refreshToken,
    expiresAt: expires_in === undefined ? undefined : now + expires_in * 1000,
    scopes: scope === undefined ? before.scopes : scope.split(" ").filter((each) => each !== ""),
  };
}

/** `rejected`: the authorization server does not take the refresh token or the client any more. `elsewhere`: it is another one now. */
async function requestTokens(
  server: OAuthServer,
  { issuer, clientId, clientSecret, refreshToken }: Credentials,
  { fetch: unlimited, resource: configured }: TokenProviderOptions,
): Promise<OAuthTokens | "rejected" | "elsewhere"> {
  const { checkResourceAllowed, discoverOAuthServerInfo, OAuthError, OAuthErrorCode, refreshAuthorization } =
    await import("@modelcontextprotocol/client");
  const fetch = limitTime(unlimited);
  try {
    const found = await discoverOAuthServerInfo(server.url, { fetchFn: fetch });
    const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = found;
    const current = metadata?.issuer ?? String(authorizationServerUrl);
    // A refresh token is for the server that issued it, and for nobody that an MCP server names later.
    if (issuer !== undefined && !isSameIssuer(issuer, current)) return "elsewhere";
    const named = resourceMetadata?.resource;
    if (named !== undefined && !checkResourceAllowed({ requestedResource: server.url, configuredResource: named })) {
      throw new Error("its metadata are those of another resource");
    }
    const resource = configured ?? named;
    return await refreshAuthorization(authorizationServerUrl, {
      ...defined({ metadata }),
      clientInformation: { client_id: clientId, ...defined({ client_secret: clientSecret }) },
      refreshToken: refreshToken ?? "",
      ...(resource === undefined ? {} : { resource: new URL(resource) }),
      fetchFn: fetch,
    });
  } catch (error) {
    const rejections: readonly string[] = [
      OAuthErrorCode.InvalidGrant,
      OAuthErrorCode.InvalidClient,
      OAuthErrorCode.UnauthorizedClient,
    ];
    if (error instanceof OAuthError && rejections.includes(error.code)) return "rejected";
    throw new Error(`its login could not be refreshed: ${messageOf(error)}`, { cause: error });
  }
}

const isSameIssuer = (one: string, other: string): boolean => one.replace(/\/$/, "") === other.replace(/\/$/, "");
