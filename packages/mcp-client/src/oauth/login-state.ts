import { systemClock, waitAtMost } from "@codex/clock";
import type { FetchLike } from "@modelcontextprotocol/client";
import type { McpServerConfig } from "../config/server-config.js";
import { DISCOVERY_MS } from "../limits.js";
import type { CredentialStore } from "./credential-store.js";

/** How calls to a server are authorized. `unknown`: it could not be asked whether it wants a login. */
export type McpLoginState = "unsupported" | "not_logged_in" | "bearer_token" | "o_auth" | "unknown";

/** Asks a server that nobody has logged in to whether it wants that, for at most 5 s. Does not start it. Rejects if the store cannot be read. */
export async function readLoginState(
  { name, transport }: McpServerConfig,
  { store, fetch }: { store: CredentialStore; fetch: FetchLike },
): Promise<McpLoginState> {
  if (transport.kind !== "http") return "unsupported";
  const { url, bearerTokenEnvVar, httpHeaders, envHttpHeaders } = transport;
  const headers = [...Object.keys(httpHeaders), ...Object.keys(envHttpHeaders)];
  if (bearerTokenEnvVar !== undefined || headers.some((header) => header.toLowerCase() === "authorization")) {
    return "bearer_token";
  }
  if ((await store.read({ name, url })) !== undefined) return "o_auth";
  if (!URL.canParse(url)) return "unknown";
  const { discoverOAuthServerInfo } = await import("@modelcontextprotocol/client");
  const asked = discoverOAuthServerInfo(url, { fetchFn: fetch }).then(
    ({ authorizationServerMetadata }) => (authorizationServerMetadata === undefined ? "unsupported" : "not_logged_in"),
    () => "unknown" as const,
  );
  return (await waitAtMost(systemClock, DISCOVERY_MS, asked)) ?? "unknown";
}
