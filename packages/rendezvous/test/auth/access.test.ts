import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { exportJWK, type JSONWebKeySet, SignJWT } from "jose";
import { describe, expect, it } from "vitest";
import { createAccess } from "../../src/auth/access.js";
import { createJwtAuthenticator, parseKeySet } from "../../src/auth/jwt.js";
import { createTokenList, entryOf, parseTokenLines } from "../../src/auth/token-list.js";
import {
  connect,
  dial,
  makeKey,
  registerBody,
  type Started,
  send,
  startExecutor,
  startRendezvous,
} from "../support.js";

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const scope = (pattern: string, ...actions: ("register" | "connect")[]) => ({
  kind: "environment" as const,
  pattern,
  actions,
});

const tokens = [
  entryOf("ex-1", [scope("env-1", "register")]),
  entryOf("ha-1", [scope("env-1", "connect")]),
  entryOf("ha-team", [scope("team-*", "connect")]),
  entryOf("all", [scope("*", "register", "connect")]),
  entryOf("monitor", [{ kind: "metrics" }]),
  { ...entryOf("old", [scope("*", "register", "connect")]), expiresAt: 5 },
];
const access = () => createAccess([createTokenList(() => tokens)]);

/** Status, and code of the refusal. */
async function ask({ post }: Started, action: string, id: string, headers: Record<string, string>) {
  const body = action === "connect" ? { harness_public_key: makeKey() } : registerBody();
  const answer = await post(`/cloud/environment/${id}/${action}`, body, headers);
  return answer.body.error?.code ?? answer.status;
}

describe("with tokens", () => {
  it("a request needs one that has the scope", async () => {
    const started = await startRendezvous({ access: access() });
    const register = (id: string, headers: Record<string, string>) => ask(started, "register", id, headers);
    expect(await register("env-1", {})).toBe("unauthenticated");
    expect(await register("env-1", bearer("wrong"))).toBe("unauthenticated");
    expect(await register("env-1", { authorization: "Basic ex-1" })).toBe("unauthenticated");
    expect(await register("env-1", { authorization: "ex-1" })).toBe("unauthenticated");
    expect(await register("env-1", bearer("x".repeat(10_000)))).toBe("unauthenticated");
    expect(await register("env-1", bearer("old"))).toBe("token_expired");
    expect(await register("env-1", bearer("ha-1"))).toBe("wrong_scope");
    expect(await register("env-2", bearer("ex-1"))).toBe("wrong_scope");
    expect(await register("env-11", bearer("ex-1"))).toBe("wrong_scope");
    expect(await register("env-1", bearer("monitor"))).toBe("wrong_scope");
    expect(await register("env-1", { authorization: "bearer  ex-1" })).toBe(200);
    expect(await register("env-2", bearer("all"))).toBe(200);
    expect([
      started.count("refusals_total", "wrong_scope"),
      started.count("refusals_total", "unauthenticated"),
    ]).toEqual([4, 5]);
  });

  it("a harness needs one to connect, and an executor its own to ask about it", async () => {
    const started = await startRendezvous({ access: access() });
    const executor = await startExecutor(started, "env-1", bearer("ex-1"));
    expect(await ask(started, "connect", "env-1", bearer("ex-1"))).toBe("wrong_scope");
    expect(await ask(started, "connect", "env-1", bearer("ha-team"))).toBe("wrong_scope");
    expect(await ask(started, "connect", "team-9", bearer("ha-team"))).toBe("executor_away");
    const harness = await connect(started, "env-1", bearer("ha-1"));
    const message = {
      executor_registration_id: executor.registrationId,
      harness_public_key: harness.key,
      harness_key_authorization: harness.authorization,
    };
    const validate = (headers: Record<string, string>) =>
      started.post("/cloud/environment/env-1/validate", message, headers);
    expect((await validate(bearer("ha-1"))).body.error?.code).toBe("wrong_scope");
    expect((await validate(bearer("ex-1"))).body).toEqual({ valid: true });
    await dial(harness.url);
  });

  it("clear text needs one with the request for the websocket", async () => {
    const started = await startRendezvous({ access: access() });
    const { body } = await started.post("/cloud/environment/env-1/register", "", bearer("ex-1"));
    const executor = await dial(body.url!);
    const url = `${started.url.replace("http", "ws")}/legacy/env-1?role=harness`;
    await expect(dial(url)).rejects.toThrow("401 unauthenticated");
    await expect(dial(url, { headers: bearer("ex-1") })).rejects.toThrow("403 wrong_scope");
    (await dial(url, { headers: bearer("ha-1") })).data("s1", "x");
    expect(await executor.nextText()).toBe("x");
  });

  it("metrics need one for them, or for every environment", async () => {
    const { url } = await startRendezvous({ access: access() });
    const status = async (token: string) => (await send(url, { path: "/metrics", headers: bearer(token) })).status;
    expect([await status("monitor"), await status("all"), await status("ex-1"), await status("no")]).toEqual([
      200, 200, 403, 401,
    ]);
    expect((await send(url, { path: "/readyz" })).status).toBe(200);
  });

  it("an executor cannot come back with a token that has expired meanwhile", async () => {
    let now = 1_000;
    const entries = [{ ...entryOf("brief", [scope("*", "register")]), expiresAt: 2_000 }];
    const wallClock = () => now;
    const started = await startRendezvous({
      access: createAccess([createTokenList(() => entries, wallClock)]),
      wallClock,
    });
    const { url } = await startExecutor(started, "env-1", bearer("brief"));
    now = 2_000;
    await expect(dial(url)).rejects.toThrow("409 registration_unknown");
    expect(await ask(started, "register", "env-1", bearer("brief"))).toBe("token_expired");
  });
});

describe("a file of tokens", () => {
  const hash = "ab".repeat(32);

  it("has a hash, scopes and perhaps a time on each line", () => {
    const entries = parseTokenLines(
      `# builders\n\n${hash} environment:env-1:register|connect metrics expires=2030-01-31T12:00:00Z\r\n  ${hash.toUpperCase()}\tenvironment:*:connect\n`,
    );
    expect(entries).toEqual([
      {
        sha256: Buffer.from(hash, "hex"),
        scopes: [scope("env-1", "register", "connect"), { kind: "metrics" }],
        expiresAt: Date.UTC(2030, 0, 31, 12),
      },
      { sha256: Buffer.from(hash, "hex"), scopes: [scope("*", "connect")], expiresAt: undefined },
    ]);
  });

  it.each([
    ["secret environment:a:register", "line 1 does not begin with a SHA-256 of 64 hexadecimal digits"],
    [`\n${hash}`, "line 2 has no scope"],
    [`${hash} environment:a/b:register`, "line 1 has a word that is not a scope"],
    [`${hash} environment::register`, "line 1 has a word that is not a scope"],
    [`${hash} environment:*x:register`, "line 1 has a word that is not a scope"],
    [`${hash} environment:a:run`, "line 1 has a word that is not a scope"],
    [`${hash} metrics expires=2030-01-31`, "line 1 has a time that is not like 2030-01-31T12:00:00Z"],
    [`${hash} metrics expires=2030-13-31T00:00:00Z`, "line 1 has a time"],
    [`${hash} metrics${" metrics".repeat(64)}`, "line 1 has 65 scopes, more than 64"],
    [`${hash} metrics\n`.repeat(4097), "there are 4097 tokens, more than 4096"],
  ])("%j is wrong, and the error repeats nothing of it", (text, message) => {
    expect(() => parseTokenLines(text)).toThrow(message);
    expect(() => parseTokenLines(text)).not.toThrow("secret");
  });
});

describe("JWTs", () => {
  const now = () => 1_700_000_000_000;
  const pair = generateKeyPairSync("ed25519");
  const other = generateKeyPairSync("ed25519");

  async function start() {
    const keys: JSONWebKeySet = { keys: [{ ...(await exportJWK(pair.publicKey)), kid: "k1" }] };
    const jwt = createJwtAuthenticator({ issuer: "https://id.example", audience: "meet", keys: () => keys, now });
    const started = await startRendezvous({ access: createAccess([jwt]) });
    return { started, register: (token: string) => ask(started, "register", "env-1", bearer(token)) };
  }

  const issue = (claims: object, { key = pair.privateKey as KeyObject, kid = "k1" } = {}) =>
    new SignJWT({
      iss: "https://id.example",
      aud: "meet",
      exp: now() / 1000 + 60,
      scope: "openid environment:env-1:register",
      ...claims,
    })
      .setProtectedHeader({ alg: "EdDSA", kid })
      .sign(key);

  it("with issuer, audience, time and scope are accepted", async () => {
    const { register } = await start();
    expect(await register(await issue({}))).toBe(200);
    expect(await register(await issue({ scope: undefined, scopes: ["x", "environment:*:register"] }))).toBe(200);
    expect(await register(await issue({ aud: ["else", "meet"] }))).toBe(200);
    expect(await register(await issue({ exp: now() / 1000 - 20 }))).toBe(200);
  });

  it("of another issuer, audience, key or time are not", async () => {
    const { started, register } = await start();
    expect(await register(await issue({ iss: "https://evil.example" }))).toBe("unauthenticated");
    expect(await register(await issue({ aud: "else" }))).toBe("unauthenticated");
    expect(await register(await issue({ aud: undefined }))).toBe("unauthenticated");
    expect(await register(await issue({ exp: undefined }))).toBe("unauthenticated");
    expect(await register(await issue({ exp: now() / 1000 - 40 }))).toBe("token_expired");
    expect(await register(await issue({ nbf: now() / 1000 + 100 }))).toBe("unauthenticated");
    expect(await register(await issue({}, { key: other.privateKey }))).toBe("unauthenticated");
    expect(await register(await issue({}, { kid: "k2" }))).toBe("unauthenticated");
    expect(await register(await issue({ scope: "environment:env-2:register" }))).toBe("wrong_scope");
    expect(await register(await issue({ scope: "environment:env-1:connect" }))).toBe("wrong_scope");
    expect(await register(await issue({ scope: 7 }))).toBe("wrong_scope");
    expect(started.count("registrations_total")).toBe(0);
  });

  it("without a signature, or with one of a shared key, are not", async () => {
    const { register } = await start();
    const [, payload] = (await issue({})).split(".");
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const jwk = await exportJWK(pair.publicKey);
    const hmac = await new SignJWT({
      iss: "https://id.example",
      aud: "meet",
      exp: now() / 1000 + 60,
      scope: "environment:*:register",
    })
      .setProtectedHeader({ alg: "HS256", kid: "k1" })
      .sign(Buffer.from(jwk.x!, "base64url"));
    const header = encode({ alg: "EdDSA", kid: "k1" });
    const swapped = encode({ scope: "environment:*:register" });
    const signature = sign(null, Buffer.from(`${header}.${payload}`), pair.privateKey).toString("base64url");
    for (const token of [
      `${encode({ alg: "none" })}.${payload}.`,
      `${encode({ alg: "none" })}.${payload}.AA`,
      hmac,
      `${header}.${swapped}.${signature}`,
    ]) {
      expect(await register(token)).toBe("unauthenticated");
    }
  });

  it("are checked with public keys alone", async () => {
    expect(() => parseKeySet("{}")).toThrow("it is not a set of public keys (JWKS)");
    expect(() => parseKeySet('{"keys":[]}')).toThrow("not a set of public keys");
    expect(() => parseKeySet(JSON.stringify({ keys: [{ kty: "oct", k: "c2VjcmV0" }] }))).toThrow(
      "not a set of public keys",
    );
    const secret = await exportJWK(pair.privateKey);
    expect(() => parseKeySet(JSON.stringify({ keys: [secret] }))).toThrow("not a set of public keys");
    expect(parseKeySet(JSON.stringify({ keys: [await exportJWK(pair.publicKey)] })).keys).toHaveLength(1);
  });
});
