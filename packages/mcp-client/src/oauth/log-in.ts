import { systemClock, waitUnlessAborted, withDeadline } from "@codex/clock";
import { defined } from "@codex/values";
import type {
  FetchLike,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
} from "@modelcontextprotocol/client";
import type { HttpConfig } from "../config/server-config.js";
import { LOGIN_MS } from "../limits.js";
import { listenForCallback } from "./callback.js";
import type { CredentialStore, OAuthServer } from "./credential-store.js";
import { limitTime } from "./limit-time.js";
import { toCredentials } from "./token-provider.js";

/** A login of a person to a server over Streamable HTTP. */
export interface LoginOptions {
  server: OAuthServer;
  /** As configured for the server; without a client, one is registered. */
  oauth: HttpConfig["oauth"];
  /** Scopes to ask for; default those configured, or those that the server names. */
  scopes?: readonly string[] | undefined;
  store: CredentialStore;
  /** Makes the requests to the server and its authorization server. */
  fetch: FetchLike;
  /** Port of the callback on 127.0.0.1; default any. */
  callbackPort?: number | undefined;
  /** Shows the person where to log in. `accept` takes the URL that the browser came back with, for one that cannot reach this host. */
  showUrl(url: string, accept: (callbackUrl: string) => void): void;
  signal?: AbortSignal;
}

/**
 * Logs in with an authorization code and PKCE, and keeps the tokens. The browser of the person comes back to 127.0.0.1, or to the configured
 * `callback_url`. Rejects when the server offers no OAuth, refuses, or nobody has answered within 300 s.
 */
export async function logIn({ signal, ...options }: LoginOptions): Promise<void> {
  const createError = () => new Error(`nobody has logged in within ${LOGIN_MS / 1000} s`);
  await withDeadline({ clock: systemClock, ms: LOGIN_MS, createError, ...defined({ signal }) }, (deadline) =>
    logInBefore(options, deadline),
  );
}

async function logInBefore(options: Omit<LoginOptions, "signal">, signal: AbortSignal): Promise<void> {
  const { server, oauth, store, fetch, callbackPort, showUrl } = options;
  const { auth } = await import("@modelcontextprotocol/client");
  const scopes = options.scopes ?? oauth.scopes;
  const callback = await listenForCallback({ port: callbackPort });
  try {
    let discovered: OAuthDiscoveryState | undefined;
    let client: StoredOAuthClientInformation | undefined =
      oauth.clientId === undefined
        ? undefined
        : { client_id: oauth.clientId, ...defined({ client_secret: oauth.clientSecret }) };
    let verifier = "";
    const redirectUrl = oauth.callbackUrl ?? callback.url;
    const provider: OAuthClientProvider = {
      redirectUrl,
      clientMetadata: {
        client_name: "Codex",
        redirect_uris: [redirectUrl],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
      },
      state: () => callback.state,
      clientInformation: () => client,
      saveClientInformation(registered) {
        client = registered;
      },
      tokens: () => undefined,
      async saveTokens({ issuer, ...tokens }) {
        const before = {
          issuer,
          clientId: client?.client_id ?? "",
          clientSecret: client?.client_secret,
          scopes: scopes ?? [],
        };
        await store.alone(server, () => store.write(server, toCredentials(tokens, before, Date.now())));
      },
      redirectToAuthorization(url) {
        // The server chooses it, and a program may be started for an address of another kind.
        if (!/^https?:$/.test(url.protocol))
          throw new Error(`it asks to open an address of ${url.protocol} in a browser`);
        showUrl(url.href, callback.accept);
      },
      saveCodeVerifier(created) {
        verifier = created;
      },
      codeVerifier: () => verifier,
      ...(oauth.resource === undefined ? {} : { validateResourceURL: async () => new URL(oauth.resource ?? "") }),
      discoveryState: () => discovered,
      saveDiscoveryState(state) {
        if (state.authorizationServerMetadata === undefined) throw new Error("the server offers no login with OAuth");
        discovered = state;
      },
    };
    const request = {
      serverUrl: server.url,
      fetchFn: limitTime(fetch),
      ...(scopes === undefined || scopes.length === 0 ? {} : { scope: scopes.join(" ") }),
    };
    await auth(provider, request);
    const answer = await waitUnlessAborted(signal, callback.answer);
    if (answer === undefined) throw signal.reason;
    await auth(provider, { ...request, authorizationCode: answer.code, ...defined({ iss: answer.iss }) });
  } finally {
    callback.close();
  }
}
