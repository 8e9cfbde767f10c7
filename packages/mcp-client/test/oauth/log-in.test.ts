import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  type CredentialStore,
  connectMcpServers,
  createCredentialFile,
  createEnvironmentFetch,
  type LoginOptions,
  logIn,
  type McpPlace,
  type McpServers,
  parseMcpServers,
  readLoginState,
} from "../../src/index.js";
import { limitTime } from "../../src/oauth/limit-time.js";
import { call, createMcpHandler, listenHttp, openRemote } from "../support.js";
import { type AuthorizationOptions, type AuthorizationServer, listenAuthorization } from "./authorization-server.js";

function openStore(): { path: string; store: CredentialStore } {
  const directory = mkdtempSync(join(tmpdir(), "codex-credentials-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "home", ".credentials.json");
  return { path, store: createCredentialFile(path) };
}

async function listen(options: Partial<AuthorizationOptions> = {}): Promise<AuthorizationServer> {
  const server = await listenAuthorization({ handle: createMcpHandler(), ...options });
  onTestFinished(() => server.close());
  return server;
}

interface World {
  place: McpPlace;
  path: string;
  store: CredentialStore;
  /** Logs in to `docs` as a person does, whose browser follows where it is sent. */
  logIn(url: string, more?: object, showUrl?: LoginOptions["showUrl"]): Promise<void>;
  connect(url: string, more?: object, store?: CredentialStore): Promise<McpServers>;
}

async function openWorld(): Promise<World> {
  const place = (await openRemote()).environment;
  const { path, store } = openStore();
  const parse = (url: string, more: object) => parseMcpServers({ docs: { url, ...more } });
  return {
    place,
    path,
    store,
    async logIn(url, more = {}, showUrl = (address) => void fetch(address)) {
      const [config] = parse(url, more);
      if (config?.transport.kind !== "http") throw new Error("not an HTTP server");
      const { oauth } = config.transport;
      await logIn({ server: { name: "docs", url }, oauth, store, fetch: createEnvironmentFetch(place.http), showUrl });
    },
    async connect(url, more = {}, used = store) {
      const servers = await connectMcpServers(parse(url, more), { getEnvironment: () => place, credentials: used });
      onTestFinished(() => servers.close());
      return servers;
    },
  };
}

const stateOf = ({ states }: McpServers) => ({ status: states[0]?.status, reason: states[0]?.reason });
const READY = { status: "ready", reason: undefined };
const echo = async (servers: McpServers) => (await call(servers.tools, "mcp__docs__echo", { words: "hi" })).outcome;
const HI = { status: "success", content: [{ type: "input_text", text: "hi" }] };
const countOf = (server: AuthorizationServer, line: string) => server.log.filter((each) => each === line).length;
const REFRESH = "POST /token grant_type=refresh_token";

describe("a server that wants a login", () => {
  it("fails with the command that logs in, until somebody has", async () => {
    const server = await listen();
    const world = await openWorld();
    expect(stateOf(await world.connect(server.url))).toEqual({
      status: "failed",
      reason: "it wants a login: `codex mcp login docs`",
    });
    await world.logIn(server.url);
    const servers = await world.connect(server.url);
    expect(stateOf(servers)).toEqual(READY);
    expect(await echo(servers)).toEqual(HI);
  });

  it("is asked for the resource it is, with PKCE and the scopes that were given", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.logIn(server.url, { scopes: ["read"] });
    expect(server.asked).toMatchObject({ resource: server.url, code_challenge_method: "S256", scope: "read" });
    await world.logIn(server.url, { oauth_resource: "https://example.com/api" });
    expect(server.asked).toMatchObject({ resource: "https://example.com/api" });
  });

  it("gets no token that is kept for another address under its name", async () => {
    const [server, other] = [await listen(), await listenHttp((_, response) => response.writeHead(401).end())];
    const world = await openWorld();
    await world.logIn(server.url);
    expect(stateOf(await world.connect(other.url)).reason).toBe("it wants a login: `codex mcp login docs`");
    expect(other.asked.flatMap(({ headers }) => headers).join(" ")).not.toContain("access-");
  });

  it("is not logged in to where the configuration has a token of its own", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.logIn(server.url);
    const servers = await world.connect(server.url, { http_headers: { Authorization: "Bearer mine" } });
    expect(stateOf(servers).status).toBe("failed");
  });

  it("takes a client that was registered before, with its secret", async () => {
    const server = await listen({ canRegister: false, clients: { known: { secret: "s3cret" } } });
    const world = await openWorld();
    const oauth = { client_id: "known", client_secret: "s3cret" };
    await world.logIn(server.url, { oauth });
    const servers = await world.connect(server.url, { oauth });
    server.expire();
    expect(await echo(servers)).toEqual(HI);
    expect(server.log).not.toContain("POST /register");
  });

  it.each(["file:///bin/sh", "vscode://open", "smb://host/share"])(
    "cannot have %s opened in a browser",
    async (address) => {
      const server = await listen({ authorizationEndpoint: address });
      const world = await openWorld();
      const shown: string[] = [];
      const login = world.logIn(server.url, {}, (url) => void shown.push(url));
      await expect(login).rejects.toThrow(/in a browser|URL/);
      expect(shown).toEqual([]);
    },
  );

  it("cannot be logged in to without OAuth", async () => {
    const { url } = await listenHttp((_, response) => response.writeHead(404).end());
    const world = await openWorld();
    await expect(world.logIn(url)).rejects.toThrow("the server offers no login with OAuth");
    expect(await world.store.read({ name: "docs", url })).toBeUndefined();
  });
});

describe("the state of a login", () => {
  it("is told for each kind of server, without starting it", async () => {
    const server = await listen();
    const { url: plain } = await listenHttp((_, response) => response.writeHead(404).end());
    const world = await openWorld();
    const table = {
      docs: { url: server.url },
      plain: { url: plain },
      token: { url: server.url, bearer_token_env_var: "TOKEN" },
      header: { url: server.url, http_headers: { authorization: "Bearer mine" } },
      program: { command: "true" },
      gone: { url: "http://127.0.0.1:1/mcp" },
    };
    const read = async () => {
      const options = { store: world.store, fetch: createEnvironmentFetch(world.place.http) };
      const all = parseMcpServers(table).map(async (config) => [config.name, await readLoginState(config, options)]);
      return Object.fromEntries(await Promise.all(all)) as Record<string, string>;
    };
    const others = {
      plain: "unsupported",
      token: "bearer_token",
      header: "bearer_token",
      program: "unsupported",
      gone: "unknown",
    };
    expect(await read()).toEqual({ docs: "not_logged_in", ...others });
    await world.logIn(server.url);
    expect(await read()).toEqual({ docs: "o_auth", ...others });
    expect(server.log).not.toContain("POST /mcp");
  });
});

describe("the tokens of a login", () => {
  it("are kept in a file for this user alone, in Codex's format, beside what others have written", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.store.write({ name: "other", url: "https://example.com/mcp" }, CREDENTIALS);
    const before = JSON.parse(readFileSync(world.path, "utf8")) as Record<string, object>;
    writeFileSync(world.path, JSON.stringify({ ...before, later: { format: 2 } }));
    await world.logIn(server.url, { scopes: ["read"] });
    expect((statSync(world.path).mode & 0o777).toString(8)).toBe("600");
    const all = JSON.parse(readFileSync(world.path, "utf8")) as Record<string, Record<string, unknown>>;
    expect(all).toMatchObject({ ...before, later: { format: 2 } });
    const [key] = Object.keys(all).filter((each) => each.startsWith("docs|"));
    expect(key).toMatch(/^docs\|[0-9a-f]{16}$/);
    expect(all[key ?? ""]).toMatchObject({
      server_name: "docs",
      server_url: server.url,
      issuer: new URL(server.url).origin,
      access_token: server.issued[0],
      refresh_token: server.issued[1],
      scopes: ["read"],
    });
  });

  it("are those of Codex 0.169.0, if it has logged in", async () => {
    const { path, store } = openStore();
    await store.write({ name: "docs", url: "http://127.0.0.1:4455/mcp" }, CREDENTIALS);
    // As Codex named and wrote the entry of this server.
    expect(Object.keys(JSON.parse(readFileSync(path, "utf8")) as object)).toEqual(["docs|4349232c652e51f1"]);
  });

  it("are refreshed when the server does not take one any more, once for all who use it", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.logIn(server.url);
    const all = await Promise.all([1, 2, 3].map(() => world.connect(server.url, {}, createCredentialFile(world.path))));
    server.expire();
    expect(await Promise.all([...all, ...all].map(echo))).toEqual(Array.from({ length: 6 }, () => HI));
    expect(countOf(server, REFRESH)).toBe(1);
  });

  it("are refreshed before they expire, and serve a process that starts later", async () => {
    const server = await listen({ expiresIn: 1 });
    const world = await openWorld();
    await world.logIn(server.url);
    const first = await world.connect(server.url);
    expect(await echo(first)).toEqual(HI);
    const refreshes = countOf(server, REFRESH);
    expect(refreshes).toBeGreaterThan(0);
    await first.close();
    expect(await echo(await world.connect(server.url))).toEqual(HI);
    expect(countOf(server, REFRESH)).toBeGreaterThan(refreshes);
  });

  it("that are good for a moment still are used if the authorization server does not answer", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.logIn(server.url);
    const known = (await world.store.read({ name: "docs", url: server.url }))!;
    const soon = { ...known, expiresAt: Date.now() + 20_000, issuer: "https://example.com" };
    await world.store.write({ name: "docs", url: server.url }, soon);
    expect(await echo(await world.connect(server.url))).toEqual(HI);
  });

  it("are removed when they are not valid any more, with the command that logs in", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.logIn(server.url);
    server.revoke();
    const reason = "its login is not valid any more: `codex mcp login docs`";
    expect(stateOf(await world.connect(server.url))).toEqual({ status: "failed", reason });
    expect(await world.store.read({ name: "docs", url: server.url })).toBeUndefined();
  });

  it("survive a server that was away", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.logIn(server.url);
    await server.close();
    expect(stateOf(await world.connect(server.url)).status).toBe("failed");
    const again = await listen({ port: server.port });
    // It does not know what was issued before it started.
    expect(stateOf(await world.connect(server.url)).reason).toContain("codex mcp login docs");
    await world.logIn(server.url);
    expect(await echo(await world.connect(again.url))).toEqual(HI);
  });

  it("are not sent to another authorization server that a server names later", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.logIn(server.url);
    const known = (await world.store.read({ name: "docs", url: server.url }))!;
    await world.store.write({ name: "docs", url: server.url }, { ...known, issuer: "https://example.com" });
    server.expire();
    expect(stateOf(await world.connect(server.url)).reason).toBe(
      "it wants a login with another authorization server: `codex mcp login docs`",
    );
    expect(countOf(server, REFRESH)).toBe(0);
    expect(await world.store.read({ name: "docs", url: server.url })).toMatchObject({
      refreshToken: known.refreshToken,
    });
  });

  it("are in no message, whatever a server says", async () => {
    const server = await listen({
      handle: (request, response) => response.writeHead(500).end(`no: ${request.headers.authorization}`),
    });
    const world = await openWorld();
    await world.logIn(server.url);
    const { reason = "" } = stateOf(await world.connect(server.url));
    expect(reason).toContain("no: Bearer");
    for (const token of server.issued) expect(reason).not.toContain(token);
  });

  it.each([
    ["no JSON", "{access-1234", "expected a JSON object"],
    ["a list", '["access-1234"]', "expected a JSON object"],
    ["an entry of another form", '{"docs|4349232c652e51f1":"access-1234"}', "the entry of `docs` is not one"],
  ])("in a file with %s are an error that names it and shows nothing of it", async (_, text, expected) => {
    const { path, store } = openStore();
    const server = { name: "docs", url: "http://127.0.0.1:4455/mcp" };
    await store.write({ name: "a", url: "https://example.com" }, CREDENTIALS);
    writeFileSync(path, text);
    const error: Error = await store.read(server).then(
      () => new Error("nothing"),
      (reason: Error) => reason,
    );
    expect(error.message).toContain(`${path}: ${expected}`);
    expect(error.message).not.toContain("1234");
    if (expected.includes("object")) {
      await expect(store.write(server, CREDENTIALS)).rejects.toThrow(path);
      expect(readFileSync(path, "utf8")).toBe(text);
    }
  });
});

it("a server that does not answer is given up, with its address", async () => {
  const { url } = await listenHttp(() => {});
  await expect(limitTime(fetch, 50)(`${url}/token?secret=1`)).rejects.toThrow(`${url} did not answer within 0.05 s`);
  const stop = AbortSignal.abort(new Error("stopped"));
  await expect(limitTime(fetch, 50)(url, { signal: stop })).rejects.toThrow("stopped");
});

describe("the callback of a login", () => {
  /** What the callback answers to a browser that comes with these parameters. */
  async function visit(authorizationUrl: string, change: (callback: URL) => void): Promise<number> {
    const callback = new URL(new URL(authorizationUrl).searchParams.get("redirect_uri")!);
    callback.searchParams.set("code", "forged");
    change(callback);
    return (await fetch(callback)).status;
  }

  it("takes only the answer to this login", async () => {
    const server = await listen();
    const world = await openWorld();
    const statuses: number[] = [];
    await world.logIn(server.url, {}, (url, accept) => {
      void (async () => {
        statuses.push(await visit(url, () => {}));
        statuses.push(await visit(url, ({ searchParams }) => searchParams.set("state", "a".repeat(43))));
        statuses.push(await visit(url, (callback) => (callback.pathname = "/callback/other")));
        expect(() => accept("http://127.0.0.1/?code=forged&state=b")).toThrow("not the answer");
        expect(() => accept("forged")).toThrow("not a URL");
        statuses.push((await fetch(url)).status);
      })();
    });
    await expect.poll(() => statuses).toEqual([400, 400, 404, 200]);
    expect(stateOf(await world.connect(server.url))).toEqual(READY);
  });

  it("may be a URL that the person has copied, where the browser cannot reach this host", async () => {
    const server = await listen();
    const world = await openWorld();
    await world.logIn(server.url, {}, (url, accept) => {
      void fetch(url, { redirect: "manual" }).then(({ headers }) => accept(headers.get("location")!));
    });
    expect(stateOf(await world.connect(server.url))).toEqual(READY);
  });

  it("rejects with the reason of a server that refuses", async () => {
    const server = await listen();
    const world = await openWorld();
    const login = world.logIn(server.url, {}, (url) => {
      const { searchParams } = new URL(url);
      const callback = new URL(searchParams.get("redirect_uri")!);
      callback.searchParams.set("state", searchParams.get("state")!);
      callback.searchParams.set("error", "access_denied");
      callback.searchParams.set("error_description", "not today");
      void fetch(callback);
    });
    await expect(login).rejects.toThrow("the authorization server refused: access_denied, not today");
  });
});

const CREDENTIALS = {
  issuer: undefined,
  clientId: "client",
  clientSecret: undefined,
  accessToken: "access",
  refreshToken: undefined,
  expiresAt: undefined,
  scopes: [],
};
