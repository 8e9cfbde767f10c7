import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { enter, headersOf, partsOf, type RawResponse, send, upgradeStatus } from "../support/http.js";
import { openView } from "../support/orchestrators.js";

it("admits with each link once, and keeps the token out of every response", async () => {
  const { view } = await openView();
  const { base, token } = partsOf(view.url);
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  const post = (body: string) => send(`${base}/enter`, { method: "POST", headers: { origin: base }, body });
  const first = await post(token);
  expect(first).toMatchObject({ status: 200, body: expect.stringMatching(/^[\w-]{43}\n$/) });
  expect(String(first.headers["set-cookie"])).toMatch(/^codex_view_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
  const second = await post(token);
  expect(second.status).toBe(401);
  expect(JSON.stringify([first, second])).not.toContain(token);
});

it("admits nobody who guesses, and answers a large body with an error", async () => {
  const { view } = await openView();
  const { base, token } = partsOf(view.url);
  const post = (body: string) => send(`${base}/enter`, { method: "POST", headers: { origin: base }, body });
  for (const guess of ["", "x", token.slice(1), `${token}=`, token.toLowerCase()]) {
    expect((await post(guess)).status, guess).toBe(401);
  }
  expect((await post("a".repeat(2000))).status).toBe(413);
  expect((await post(token)).status).toBe(200);
});

it.each([
  ["another host", { host: "attacker.example" }],
  ["another port of this host", { host: "127.0.0.1:1" }],
])("refuses %s in the header Host, for pages and websockets", async (_name, headers) => {
  const { view } = await openView();
  const { base, bearer, protocol } = await enter(view.url);
  expect((await send(base, { headers })).status).toBe(403);
  expect((await send(`${base}/me`, { headers: { ...headers, ...bearer } })).status).toBe(403);
  expect(await upgradeStatus(base, { ...headers, ...protocol, origin: base })).toBe(403);
});

it("refuses pages of other sites, also with the key, and websockets without an Origin", async () => {
  const { view } = await openView();
  const { base, bearer, protocol } = await enter(view.url);
  const { port } = new URL(base);
  for (const origin of ["https://attacker.example", "null", `http://localhost:${port}`, "http://127.0.0.1:1"]) {
    expect(await upgradeStatus(base, { origin, ...protocol }), origin).toBe(403);
    expect((await send(`${base}/me`, { headers: { origin, ...bearer } })).status, origin).toBe(403);
    const entered = await send(`${base}/enter`, { method: "POST", headers: { origin }, body: "x" });
    expect(entered.status, origin).toBe(403);
  }
  expect(await upgradeStatus(base, protocol)).toBe(403);
  expect((await send(`${base}/enter`, { method: "POST", body: "x" })).status).toBe(403);
  expect(await upgradeStatus(base, { origin: base, ...protocol })).toBe(101);
});

it("takes no key of another view, and no half of one, as browsers send cookies to every port of the host", async () => {
  const [one, other] = [await openView(), await openView()];
  const foreign = await enter(one.view.url);
  const { base, key, cookie, bearer, protocol } = await enter(other.view.url);
  expect(foreign.base).not.toBe(base);
  const { authorization } = bearer;
  const mixed = { authorization: foreign.bearer.authorization, cookie };
  const twice = { cookie: `${cookie}; ${cookie.split("=")[0]}=${key}` };
  const guessed = { authorization, cookie: `${cookie.split("=")[0]}=${key}` };
  for (const headers of [
    { cookie },
    { authorization },
    twice,
    guessed,
    foreign.bearer,
    mixed,
    { authorization: key, cookie },
  ]) {
    expect((await send(`${base}/me`, { headers })).status, JSON.stringify(headers)).toBe(401);
  }
  const { "sec-websocket-protocol": offered } = protocol;
  const swapped = { "sec-websocket-protocol": `${key}, codex-view`, cookie };
  for (const headers of [{ cookie }, { "sec-websocket-protocol": offered }, foreign.protocol, swapped]) {
    expect(await upgradeStatus(base, { origin: base, ...headers }), JSON.stringify(headers)).toBe(401);
  }
  expect((await send(`${base}/me`, { headers: bearer })).status).toBe(204);
});

it("sends its headers with every response, and the page of the player alone may compile WebAssembly", async () => {
  const { view } = await openView();
  const { base, bearer } = await enter(view.url);
  for (const path of ["/", "/page.js", "/replay", "/nothing", "/me", "/recording/1", "/../package.json"]) {
    const { headers } = await send(base + path, { headers: bearer });
    expect(headers, path).toMatchObject({
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    expect(headers["access-control-allow-origin"], path).toBeUndefined();
    const policy = String(headers["content-security-policy"]);
    expect(policy, path).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
    expect(policy.includes("wasm-unsafe-eval"), path).toBe(path === "/replay");
    expect(policy, path).not.toContain("'unsafe-eval'");
  }
  expect((await send(`${base}/me`)).status).toBe(401);
  expect((await send(`${base}/recording/1`)).status).toBe(401);
  expect((await send(base, { method: "DELETE", headers: { origin: base, ...bearer } })).status).toBe(405);
});

it("listens beyond loopback only with TLS", async () => {
  await expect(openView({}, { host: "0.0.0.0" })).rejects.toThrow(
    'a view at "0.0.0.0" can be reached from other hosts: it needs TLS',
  );
  const { cert, key } = createCertificate();
  const { view } = await openView({}, { host: "0.0.0.0", tls: { cert, key }, names: ["view.test"] });
  expect(view.url).toMatch(/^https:\/\/view\.test:\d+\/#/);
  const { port } = new URL(view.url);
  const request = (headers: Record<string, string>, body?: string) =>
    sendSecurely({ port, ca: cert, headers: { host: `view.test:${port}`, ...headers }, body });
  const origin = `https://view.test:${port}`;
  const [refused, admitted] = [
    await request({ origin: `http://view.test:${port}` }, partsOf(view.url).token),
    await request({ origin }, partsOf(view.url).token),
  ];
  expect([refused.status, admitted.status]).toEqual([403, 200]);
  const { key: half, cookie } = headersOf(admitted);
  expect(String(admitted.headers["set-cookie"])).toMatch(/; Secure$/);
  const options = { ca: cert, servername: "localhost", headers: { host: `view.test:${port}`, origin, cookie } };
  const openSocket = (protocols: string[]) =>
    new Promise<number | undefined>((resolve) => {
      const socket = new WebSocket(`wss://127.0.0.1:${port}/live`, protocols, options);
      socket.once("open", () => {
        resolve(101);
        socket.terminate();
      });
      socket.once("unexpected-response", (_request, { statusCode }) => resolve(statusCode));
      socket.on("error", () => {});
    });
  expect([await openSocket([]), await openSocket(["codex-view", half])]).toEqual([401, 101]);
});

/** For `localhost`, signed by itself. */
function createCertificate(): { cert: string; key: string } {
  const directory = mkdtempSync(join(tmpdir(), "codex view-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [keyFile, certFile] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const algorithm = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync(
    "openssl",
    ["req", "-x509", ...algorithm, "-keyout", keyFile, "-out", certFile, "-days", "1", ...subject],
    { stdio: "ignore" },
  );
  return { cert: readFileSync(certFile, "utf8"), key: readFileSync(keyFile, "utf8") };
}

function sendSecurely({
  body,
  ...options
}: {
  port: string;
  ca: string;
  headers: Record<string, string>;
  body?: string | undefined;
}): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const place = { host: "127.0.0.1", servername: "localhost", path: "/enter", method: "POST", agent: false };
    const sent = request({ ...place, ...options }, (response) =>
      text(response).then((received) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received });
      }, reject),
    );
    sent.once("error", reject);
    sent.end(body);
  });
}
