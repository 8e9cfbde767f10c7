import { createHash, createHmac } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Duplex, PassThrough } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { listenWebSocket, parseListenUrl, resolveAuth, serveStdio } from "../../src/index.js";
import { startParams, useServer } from "../support.js";

const UPGRADE = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

/** Status and body of an HTTP request; 101 for an upgrade. */
function ask(url: string, { path = "/", method = "GET", headers = {} } = {}): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ host: hostname, port, path, method, headers: { ...headers } });
    sent.on("upgrade", (_response, socket) => {
      socket.destroy();
      resolve("101");
    });
    sent.on("response", (response) => {
      void text(response).then((body) => resolve(`${response.statusCode} ${body}`.trim()));
    });
    sent.on("error", reject);
    sent.end();
  });
}

/** The socket of an upgraded connection. */
function upgradeRaw(url: string): Promise<Duplex> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const sent = request({ host: hostname, port, path: "/", headers: UPGRADE });
    sent.on("upgrade", (_response, socket) => resolve(socket));
    sent.on("error", reject);
    sent.end();
  });
}

const upgrade = (url: string, authorization?: string, more = {}) =>
  ask(url, { headers: { ...UPGRADE, ...(authorization === undefined ? {} : { authorization }), ...more } });

const SECRET = "0123456789012345678901234567890123456789";
const encode = (part: unknown): string => Buffer.from(JSON.stringify(part)).toString("base64url");
function jwt(claims: unknown, header: object = { alg: "HS256" }, secret = SECRET, hash = "sha256"): string {
  const signed = `${encode(header)}.${encode(claims)}`;
  return `${signed}.${createHmac(hash, secret).update(signed).digest("base64url")}`;
}
const now = Math.floor(Date.now() / 1000);

describe("a websocket listener", () => {
  const server = useServer();

  it("answers probes, refuses pages of browsers and everything else", async () => {
    const { url } = await server.listen();
    expect(await ask(url, { path: "/readyz" })).toBe("200");
    expect(await ask(url, { path: "/healthz", method: "HEAD" })).toBe("200");
    expect(await ask(url, { path: "/healthz", method: "POST" })).toBe("404");
    expect(await ask(url, { path: "/other" })).toBe("404");
    expect(await ask(url)).toMatch(/^400 .*upgrade/);
    expect(await upgrade(url)).toBe("101");
    for (const origin of ["null", url, "http://example.com", ""]) {
      expect(await upgrade(url, undefined, { origin })).toBe("403");
      expect(await ask(url, { path: "/readyz", headers: { origin } })).toBe("403");
    }
  });

  it("ends a connection whose message is over the limit, and no other", async () => {
    const { dial } = await server.listen();
    const [one, two] = [await dial(), await dial()];
    await one.handshake();
    await two.handshake();
    await two.start("p", ["cat"], { pipeStdin: true });
    const chunk = Buffer.alloc(15 * 1024 * 1024).toString("base64");
    expect(await two.ask("process/write", { processId: "nope", chunk, writeId: "1" })).toEqual({
      status: "unknownProcess",
    });
    const { url } = await server.listen();
    const socket = await upgradeRaw(url);
    // The head of a masked text frame of 64 MiB and one byte.
    socket.write(Buffer.from([0x81, 0xff, 0, 0, 0, 0, 4, 0, 0, 1, 0, 0, 0, 0]));
    const closing = await buffer(socket);
    expect([...closing.subarray(0, 4)]).toEqual([0x88, closing.length - 2, 1009 >> 8, 1009 & 0xff]);
    expect(await one.ask("environment/status")).toEqual({ status: "ready" });
  });

  it("does not listen beyond loopback without authentication", async () => {
    const host = "0.0.0.0";
    await expect(listenWebSocket(await server.get(), { host, port: 0 })).rejects.toThrow(/0\.0\.0\.0 .*--ws-auth/);
    const { url } = await server.listen({ host, allowInsecure: true });
    expect(url).toMatch(/^ws:\/\/0\.0\.0\.0:\d+$/);
    const auth = { kind: "capability", sha256: createHash("sha256").update("t").digest() } as const;
    expect((await server.listen({ host, auth })).url).toMatch(/^ws:/);
  });
});

describe("tokens", () => {
  const server = useServer();
  const digest = createHash("sha256").update("the token").digest("hex");

  it.each([
    [undefined, "401 missing websocket bearer token"],
    ["Basic x", "401 invalid authorization header"],
    ["Bearer", "401 invalid authorization header"],
    ["the token", "401 invalid authorization header"],
    ["Bearer the tokenx", "401 invalid websocket bearer token"],
    ["Bearer the token", "101"],
    ["bEARER   the token  ", "101"],
  ])("capability: %j", async (authorization, answer) => {
    const auth = resolveAuth({ wsAuth: "capability-token", wsTokenSha256: digest.toUpperCase() })!;
    const { url } = await server.listen({ auth });
    expect(await upgrade(url, authorization)).toBe(answer);
    expect(await ask(url, { path: "/readyz" })).toBe("200");
  });

  it.each([
    ["no token", "x", "401 invalid websocket jwt"],
    ["good", jwt({ exp: now + 600, iss: "i", aud: ["b", "a"] }), "101"],
    ["another audience form", jwt({ exp: now + 600, iss: "i", aud: "a", nbf: null, iat: "x" }), "101"],
    ["within the skew", jwt({ exp: now - 100, nbf: now + 100, iss: "i", aud: "a" }), "101"],
    ["without an expiry", jwt({ exp: 2 ** 60, iss: "i", aud: "a" }), "101"],
    ["without exp", jwt({ iss: "i", aud: "a" }), "401 invalid websocket jwt"],
    ["exp with a fraction", jwt({ exp: now + 600.5, iss: "i", aud: "a" }), "401 invalid websocket jwt"],
    ["exp as text", jwt({ exp: `${now + 600}`, iss: "i", aud: "a" }), "401 invalid websocket jwt"],
    ["expired", jwt({ exp: now - 300, iss: "x" }), "401 expired websocket jwt"],
    ["too early", jwt({ exp: now + 600, nbf: now + 300, iss: "x" }), "401 websocket jwt is not valid yet"],
    ["another issuer", jwt({ exp: now + 600, iss: "x", aud: "x" }), "401 websocket jwt issuer mismatch"],
    ["no issuer", jwt({ exp: now + 600, aud: "a" }), "401 websocket jwt issuer mismatch"],
    ["another audience", jwt({ exp: now + 600, iss: "i", aud: ["b"] }), "401 websocket jwt audience mismatch"],
    ["another key", jwt({ exp: now + 600, iss: "i", aud: "a" }, undefined, `${SECRET}x`), "401 invalid websocket jwt"],
    ["HS512", jwt({ exp: now + 600 }, { alg: "HS512" }, SECRET, "sha512"), "401 invalid websocket jwt"],
    ["HS256 named HS512", jwt({ exp: now + 600 }, { alg: "HS512" }), "401 invalid websocket jwt"],
    ["alg none", `${encode({ alg: "none" })}.${encode({ exp: now + 600 })}.`, "401 invalid websocket jwt"],
    ["an extension", jwt({ exp: now + 600 }, { alg: "HS256", crit: ["x"] }), "401 invalid websocket jwt"],
    ["padding", `${jwt({ exp: now + 600, iss: "i", aud: "a" })}=`, "401 invalid websocket jwt"],
    ["a fourth part", `${jwt({ exp: now + 600, iss: "i", aud: "a" })}.x`, "401 invalid websocket jwt"],
  ])("signed: %s", async (_name, token, answer) => {
    const auth = {
      kind: "signed",
      secret: Buffer.from(SECRET),
      issuer: "i",
      audience: "a",
      maxClockSkewSeconds: 120,
    } as const;
    const { url } = await server.listen({ auth });
    expect(await upgrade(url, `Bearer ${token}`)).toBe(answer);
  });
});

describe("options", () => {
  const directory = mkdtempSync(join(tmpdir(), "exec-server-auth-"));
  const file = (name: string, content: string) => {
    writeFileSync(join(directory, name), content);
    return join(directory, name);
  };
  const server = useServer();

  it.each([
    [{ wsIssuer: "i" }, "websocket auth flags require `--ws-auth capability-token` or `--ws-auth signed-bearer-token`"],
    [{ wsAuth: "capability-token" }, "`--ws-token-file` or `--ws-token-sha256` is required"],
    [{ wsAuth: "capability-token", wsTokenFile: "a", wsTokenSha256: "b" }, "are mutually exclusive"],
    [{ wsAuth: "capability-token", wsTokenSha256: "ab" }, "must be a 64-character hex SHA-256 digest"],
    [{ wsAuth: "capability-token", wsTokenSha256: "ab", wsAudience: "a" }, "require `--ws-auth signed-bearer-token`"],
    [{ wsAuth: "capability-token", wsTokenFile: "/no/file" }, "failed to read websocket auth secret /no/file: No such"],
    [{ wsAuth: "capability-token", wsTokenFile: "/" }, "failed to read websocket auth secret /: Is a directory (os"],
    [{ wsAuth: "signed-bearer-token" }, "`--ws-shared-secret-file` is required when"],
    [{ wsAuth: "signed-bearer-token", wsTokenSha256: "ab" }, "require `--ws-auth capability-token`, not"],
    [{ wsAuth: "signed-bearer-token", wsSharedSecretFile: "short" }, "must be at least 32 bytes"],
    [{ wsAuth: "signed-bearer-token", wsSharedSecretFile: "blank" }, "must not be empty"],
  ] as const)("%j are refused", (options, problem) => {
    const files: Record<string, string> = { short: file("short", "short\n"), blank: file("blank", " \n") };
    const given = { ...options };
    if ("wsSharedSecretFile" in given) Object.assign(given, { wsSharedSecretFile: files[given.wsSharedSecretFile] });
    expect(() => resolveAuth(given)).toThrow(problem);
  });

  it("are read from files, without the blanks around", async () => {
    const wsTokenFile = file("token", " the token \n");
    const { url } = await server.listen({ auth: resolveAuth({ wsAuth: "capability-token", wsTokenFile })! });
    expect(await upgrade(url, "Bearer the token")).toBe("101");
    const wsSharedSecretFile = file("secret", `${SECRET}\n`);
    expect(resolveAuth({ wsAuth: "signed-bearer-token", wsSharedSecretFile, wsIssuer: " ", wsAudience: "a" })).toEqual({
      kind: "signed",
      secret: Buffer.from(SECRET),
      issuer: undefined,
      audience: "a",
      maxClockSkewSeconds: 30,
    });
    expect(resolveAuth({})).toBeUndefined();
    rmSync(directory, { recursive: true });
  });

  it.each([
    ["stdio", { kind: "stdio" }],
    ["stdio://", { kind: "stdio" }],
    ["ws://127.0.0.1:0", { kind: "websocket", host: "127.0.0.1", port: 0 }],
    ["ws://[::1]:65535", { kind: "websocket", host: "::1", port: 65535 }],
  ])("--listen %s", (url, target) => expect(parseListenUrl(url)).toEqual(target));

  it.each(["ws://localhost:0", "ws://127.0.0.1", "ws://127.0.0.1:65536", "ws://127.0.0.1:1/", "ws://[127.0.0.1]:1"])(
    "--listen %s is invalid",
    (url) => expect(() => parseListenUrl(url)).toThrow(`invalid websocket --listen URL \`${url}\``),
  );

  it.each(["", "wss://127.0.0.1:1", "http://127.0.0.1:1", "STDIO"])("--listen %j is not supported", (url) =>
    expect(() => parseListenUrl(url)).toThrow(`unsupported --listen URL \`${url}\``),
  );
});

describe("stdio", () => {
  const server = useServer();

  it("answers what was read before the end, and takes its processes along", async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const served = serveStdio(await server.get(), { input, output });
    const lines = [
      { id: 1, method: "initialize", params: { clientName: "x" } },
      { method: "initialized" },
      { id: 2, method: "process/start", params: startParams("p", ["sleep", "60"]) },
      { id: 3, method: "process/read", params: { processId: "p", waitMs: 600_000 } },
      { id: 4, method: "process/list" },
    ].map((message) => JSON.stringify(message));
    // The last line has no end.
    input.end(`\n${lines[0]}\r\n \n${lines.slice(1).join("\n")}`);
    const answers = (await text(output))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { id: number; error?: unknown });
    await served;
    expect(answers.map(({ id, error }) => [id, error]).sort()).toEqual([1, 2, 3, 4].map((id) => [id, undefined]));
  });
});
