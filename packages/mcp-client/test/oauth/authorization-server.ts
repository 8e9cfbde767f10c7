import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** How an authorization server behaves. */
export interface AuthorizationOptions {
  /** Answers the requests to `/mcp` that have a valid token. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Port to listen on, for a server that comes back; default any. */
  port?: number;
  /** Seconds a token is valid, as told to clients; default 3600. */
  expiresIn?: number;
  /** Without it, clients must be known before: those of `clients`. */
  canRegister?: boolean;
  /** Where a person logs in; default here. */
  authorizationEndpoint?: string;
  clients?: Readonly<Record<string, { secret?: string }>>;
}

/** An MCP server at `/mcp` of an origin that also issues its tokens: OAuth 2.1 with PKCE, and refresh tokens that are used once. */
export interface AuthorizationServer {
  /** The URL of the MCP server. */
  url: string;
  port: number;
  /** Each request to an endpoint, as `POST /token grant_type=refresh_token`. */
  log: string[];
  /** Parameters of the last authorization request. */
  asked: Record<string, string>;
  /** All tokens issued, access and refresh, for a search for them where they must not be. */
  issued: string[];
  /** Access tokens issued so far are not accepted any more. */
  expire(): void;
  /** Neither access nor refresh tokens issued so far are accepted any more. */
  revoke(): void;
  close(): Promise<void>;
}

interface Grant {
  client: string;
  redirect: string;
  challenge: string;
  scope: string;
}

const newToken = (kind: string): string => `${kind}-${randomBytes(16).toString("hex")}`;

/** Listens on 127.0.0.1. */
export async function listenAuthorization(options: AuthorizationOptions): Promise<AuthorizationServer> {
  const { handle, expiresIn = 3600, canRegister = true } = options;
  const clients = new Map<string, { secret?: string }>(Object.entries(options.clients ?? {}));
  const codes = new Map<string, Grant>();
  const refreshes = new Map<string, { client: string; scope: string }>();
  const accepted = new Set<string>();
  const log: string[] = [];
  const asked: Record<string, string> = {};
  const issued: string[] = [];
  let origin = "";

  function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
    response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store", ...headers });
    response.end(JSON.stringify(body));
  }

  function issue(response: ServerResponse, client: string, scope: string): void {
    const access = newToken("access");
    const refresh = newToken("refresh");
    accepted.add(access);
    refreshes.set(refresh, { client, scope });
    issued.push(access, refresh);
    json(response, 200, {
      access_token: access,
      refresh_token: refresh,
      token_type: "Bearer",
      expires_in: expiresIn,
      ...(scope === "" ? {} : { scope }),
    });
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    for (const key of Object.keys(asked)) delete asked[key];
    Object.assign(asked, Object.fromEntries(query));
    const { client_id = "", redirect_uri = "", code_challenge = "", code_challenge_method, state, scope = "" } = asked;
    if (!clients.has(client_id) || code_challenge_method !== "S256") return json(response, 400, { error: "invalid" });
    const code = newToken("code");
    codes.set(code, { client: client_id, redirect: redirect_uri, challenge: code_challenge, scope });
    const target = new URL(redirect_uri);
    target.searchParams.set("code", code);
    if (state !== undefined) target.searchParams.set("state", state);
    response.writeHead(302, { location: target.href }).end();
  }

  function isClient(form: URLSearchParams, request: IncomingMessage): boolean {
    const basic = /^Basic (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const [id, secret] =
      basic === undefined
        ? [form.get("client_id") ?? "", form.get("client_secret") ?? undefined]
        : Buffer.from(basic, "base64").toString().split(":").map(decodeURIComponent);
    const client = clients.get(id ?? "");
    return client !== undefined && client.secret === secret;
  }

  async function giveToken(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(await text(request));
    log.push(`POST /token grant_type=${form.get("grant_type")}`);
    if (!isClient(form, request)) return json(response, 401, { error: "invalid_client" });
    if (form.get("grant_type") === "refresh_token") {
      const refresh = form.get("refresh_token") ?? "";
      const known = refreshes.get(refresh);
      if (known === undefined) return json(response, 400, { error: "invalid_grant" });
      refreshes.delete(refresh);
      return issue(response, known.client, known.scope);
    }
    const code = form.get("code") ?? "";
    const grant = codes.get(code);
    codes.delete(code);
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant?.challenge !== challenge || grant.redirect !== form.get("redirect_uri")) {
      return json(response, 400, { error: "invalid_grant" });
    }
    issue(response, grant.client, grant.scope);
  }

  async function register(request: IncomingMessage, response: ServerResponse): Promise<void> {
    log.push("POST /register");
    const body = JSON.parse(await text(request)) as object;
    const id = newToken("client");
    clients.set(id, {});
    json(response, 201, { ...body, client_id: id });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", origin);
    if (pathname.startsWith("/.well-known/")) log.push(`${request.method} ${pathname}`);
    switch (pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return json(response, 200, { resource: `${origin}/mcp`, authorization_servers: [origin] });
      case "/.well-known/oauth-authorization-server":
        return json(response, 200, {
          issuer: origin,
          authorization_endpoint: options.authorizationEndpoint ?? `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          ...(canRegister ? { registration_endpoint: `${origin}/register` } : {}),
          response_types_supported: ["code"],
          grant_types_supported: ["authorization_code", "refresh_token"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
          scopes_supported: ["read", "write"],
        });
      case "/register":
        return canRegister ? register(request, response) : json(response, 404, {});
      case "/authorize":
        log.push("GET /authorize");
        return authorize(searchParams, response);
      case "/token":
        return giveToken(request, response);
      case "/mcp": {
        const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
        if (token !== undefined && accepted.has(token)) return handle(request, response);
        const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
        return json(response, 401, {}, { "www-authenticate": `Bearer resource_metadata="${metadata}"` });
      }
      default:
        return json(response, 404, {});
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => {
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  // A TCP server has such an address.
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  return {
    url: `${origin}/mcp`,
    port,
    log,
    asked,
    issued,
    expire: () => accepted.clear(),
    revoke() {
      accepted.clear();
      refreshes.clear();
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}
