import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request as httpRequest } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeFetch } from "@codex/agent/node";
import { findProxy } from "@codex/http-proxy";
import { describe, expect, it, onTestFinished } from "vitest";

describe("findProxy", () => {
  const find = (target: string, env: Record<string, string>) => findProxy(new URL(target), env)?.url.href;

  it.each<[string, string, Record<string, string>, string | undefined]>([
    ["nothing", "https://x.example", {}, undefined],
    [
      "the variable of the scheme",
      "https://x.example",
      { HTTPS_PROXY: "http://p:1", HTTP_PROXY: "http://q:2" },
      "http://p:1/",
    ],
    ["the other scheme", "http://x.example", { HTTPS_PROXY: "http://p:1" }, undefined],
    ["lower case first", "https://x.example", { HTTPS_PROXY: "http://p:1", https_proxy: "http://q:2" }, "http://q:2/"],
    ["a proxy for everything", "http://x.example", { ALL_PROXY: "http://p:1" }, "http://p:1/"],
    ["a proxy without a scheme", "http://x.example", { http_proxy: "p:1" }, "http://p:1/"],
    ["an empty variable", "http://x.example", { http_proxy: " " }, undefined],
  ])("knows %s", (_name, target, env, expected) => {
    expect(find(target, env)).toBe(expected);
  });

  it.each([
    ["*", true],
    ["x.example", true],
    [".example", true],
    ["*.example", true],
    ["example", true],
    ["other.example, X.Example", true],
    ["x.example:443", true],
    ["x.example:80", false],
    ["ample", false],
    ["y.x.example", false],
    ["", false],
  ])("leaves out the host for NO_PROXY %j: %j", (no, isLeftOut) => {
    const found = find("https://x.example/v1", { HTTPS_PROXY: "http://p:1", NO_PROXY: no });
    expect(found === undefined).toBe(isLeftOut);
  });

  it.each([
    ["http://10.1.2.3/", "10.0.0.0/8", true],
    ["http://10.1.2.3/", "10.1.2.3", true],
    ["http://11.1.2.3/", "10.0.0.0/8", false],
    ["http://10.1.2.3/", "10.0.0.0/99", false],
    ["http://[fd00::1]/", "fd00::/8", true],
    ["http://[::1]:8080/", "[::1]:8080", true],
  ])("knows addresses and networks: %s, %s", (target, no, isLeftOut) => {
    expect(find(target, { ALL_PROXY: "http://p:1", NO_PROXY: no }) === undefined).toBe(isLeftOut);
  });

  it.each(["socks5://user:secret@p:1", "http://", "not a url at all"])("refuses %s without showing it", (proxy) => {
    expect(() => find("http://x.example", { http_proxy: proxy })).toThrow(/^http_proxy is /);
    expect(() => find("http://x.example", { http_proxy: proxy })).not.toThrow(/secret/);
  });
});

async function listen(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A proxy that wants a password, and what it was asked. */
async function startProxy() {
  const asked: string[] = [];
  const isKnown = (given: string | undefined) => given === `Basic ${Buffer.from("user:pass word").toString("base64")}`;
  const proxy = createServer((incoming, response) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    if (!isKnown(incoming.headers["proxy-authorization"])) return response.writeHead(407).end();
    const { "proxy-authorization": _, ...headers } = incoming.headers;
    const onward = httpRequest(incoming.url ?? "", { method: incoming.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500);
      answer.pipe(response);
    });
    incoming.pipe(onward);
  });
  proxy.on("connect", (incoming, socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (!isKnown(incoming.headers["proxy-authorization"])) return socket.end("HTTP/1.1 407 No\r\n\r\n");
    const [host, port] = (incoming.url ?? "").split(":");
    const onward = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    for (const end of [onward, socket]) end.on("error", () => socket.destroy());
  });
  return { port: await listen(proxy), asked };
}

const init = {
  method: "POST" as const,
  headers: { authorization: "Bearer key" },
  body: new TextEncoder().encode("hello"),
  signal: new AbortController().signal,
  redirect: "manual" as const,
};

/** Answers with what it was sent. */
const echo: Parameters<typeof createServer>[1] = async (incoming, response) => {
  let body = "";
  for await (const piece of incoming.setEncoding("utf8")) body += piece;
  response.end(`${incoming.url} ${incoming.headers.host} ${incoming.headers.authorization} ${body}`);
};

async function ask(url: string, proxy: string) {
  const found = findProxy(new URL(url), { ALL_PROXY: proxy });
  const { status, body } = await createNodeFetch(undefined, found)(url, init);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return `${status} ${Buffer.concat(chunks).toString()}`;
}

describe("requests through a proxy", () => {
  it("are sent to it whole without TLS", async () => {
    const { port, asked } = await startProxy();
    const target = await listen(createServer(echo));
    const url = `http://127.0.0.1:${target}/v1/responses?a=b`;
    expect(await ask(url, `http://user:pass%20word@127.0.0.1:${port}`)).toBe(
      `200 /v1/responses?a=b 127.0.0.1:${target} Bearer key hello`,
    );
    expect(asked).toEqual([`POST ${url}`]);
    expect(await ask(url, `http://127.0.0.1:${port}`)).toMatch(/^407/);
  });

  it("go through a tunnel with TLS, in which the proxy sees neither key nor path", async (context) => {
    const directory = mkdtempSync(join(tmpdir(), "codex-proxy-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const [key, cert] = [join(directory, "key"), join(directory, "cert")];
    try {
      const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1`;
      execFileSync("openssl", [...words.split(" "), "-keyout", key, "-out", cert], { stdio: "ignore" });
    } catch {
      context.skip("no openssl here");
    }
    const { port, asked } = await startProxy();
    const secure = createSecureServer({ key: readFileSync(key), cert: readFileSync(cert) }, echo);
    const target = await listen(secure);
    const url = `https://127.0.0.1:${target}/v1`;
    const program = `import { createNodeFetch } from ${JSON.stringify(new URL("../../agent/dist/node/index.js", import.meta.url).href)};
      import { findProxy } from ${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)};
      const found = findProxy(new URL(${JSON.stringify(url)}), process.env);
      const send = createNodeFetch(undefined, found);
      const init = { method: "POST", headers: { authorization: "Bearer key" }, body: new TextEncoder().encode("hello"), signal: new AbortController().signal, redirect: "manual" };
      for (let count = 0; count < 2; count += 1) {
        const { status, body } = await send(${JSON.stringify(url)}, init);
        let text = ""; for await (const chunk of body) text += new TextDecoder().decode(chunk);
        console.log(status, text);
      }
      process.exit(0);`;
    const run = (proxy: string) =>
      runModule(program, { ...process.env, HTTPS_PROXY: proxy, https_proxy: "", NODE_EXTRA_CA_CERTS: cert });
    const line = `200 /v1 127.0.0.1:${target} Bearer key hello\n`;
    expect(await run(`http://user:pass%20word@127.0.0.1:${port}`)).toBe(line + line);
    // The connection is used again.
    expect(asked).toEqual([`CONNECT 127.0.0.1:${target}`]);
    expect(await run(`http://user:wrong@127.0.0.1:${port}`)).toMatch(/the proxy 127\.0\.0\.1:\d+ answered 407/);
  });
});

async function runModule(program: string, env: NodeJS.ProcessEnv): Promise<string> {
  const { execFile } = await import("node:child_process");
  return new Promise((resolve) => {
    execFile(process.execPath, ["--input-type=module", "-e", program], { env }, (_error, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
}
