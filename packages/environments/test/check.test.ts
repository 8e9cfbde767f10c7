import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createSecureServer } from "node:tls";
import { expect, it, onTestFinished } from "vitest";
import {
  checkEnvironment,
  createCommandLink,
  createRemoteEnvironment,
  createSshLink,
  createWebSocketLink,
  type EnvironmentLink,
  type ServerBundle,
} from "../src/index.js";
import { environmentAt, listen } from "./support.js";

/** For this host, signed by itself. */
function createCertificate(): { cert: Buffer; key: Buffer } {
  const directory = mkdtempSync(join(tmpdir(), "certificate-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const algorithm = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", ...algorithm, "-keyout", key, "-out", cert, "-days", "1", ...subject], {
    stdio: "ignore",
  });
  return { cert: readFileSync(cert), key: readFileSync(key) };
}

/** Its port. Ends with the test, with its connections. */
async function serve(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" ? (address?.port ?? 0) : 0;
}

const bundle: ServerBundle = { id: "none", targets: [], listFiles: () => Promise.reject(new Error("not reached")) };
const program = (text: string) => createCommandLink({ program: process.execPath, args: ["-e", text] });
const ssh = (script: string) =>
  createSshLink({ address: { host: "h" }, ssh: ["/bin/sh", "-c", script, "ssh"], bundle });
const MARK = `mark=$(sed -n "s/.*'\\(codex-ts-[0-9a-f]*\\)'.*/\\1/p;/^m$/q" | head -n 1)`;

const LINKS: [string, kind: string, code: string, open: () => Promise<EnvironmentLink>, mend: RegExp][] = [
  [
    "an address where nothing listens",
    "websocket",
    "unreachable",
    async () => createWebSocketLink({ url: "ws://127.0.0.1:1" }),
    /start a server there/,
  ],
  [
    "a server that wants a token",
    "websocket",
    "unauthorized",
    async () => {
      const port = await serve(createServer().on("upgrade", (_, socket) => socket.end("HTTP/1.1 401 No\r\n\r\n")));
      return createWebSocketLink({ url: `ws://127.0.0.1:${port}` });
    },
    /auth_bearer_token/,
  ],
  [
    "a server with a certificate that it signed itself",
    "websocket",
    "untrusted",
    async () => {
      const port = await serve(createSecureServer(createCertificate()));
      return createWebSocketLink({ url: `wss://127.0.0.1:${port}` });
    },
    /ca_file.*\[extend\.ID\]/,
  ],
  [
    "a server that accepts connections and is silent",
    "websocket",
    "timeout",
    async () => {
      const port = await serve(createTcpServer((socket) => onTestFinished(() => void socket.destroy())));
      return createWebSocketLink({ url: `ws://127.0.0.1:${port}`, connectTimeoutMs: 100 });
    },
    /connect_timeout_sec/,
  ],
  [
    "a program that fails",
    "command",
    "program_failed",
    async () => program("process.exit(3)"),
    /run the program by hand/,
  ],
  [
    "a program that greets",
    "command",
    "handshake_failed",
    async () => program("console.log('hi'); setInterval(() => {}, 1000)"),
    /nothing else on its stdout/,
  ],
  [
    "a program that is silent",
    "command",
    "timeout",
    async () => program("setInterval(() => {}, 1000)"),
    /initialize_timeout_sec/,
  ],
  [
    "a host that refuses all keys",
    "ssh",
    "unauthorized",
    async () => ssh("echo 'me@h: Permission denied (publickey).' >&2; exit 255"),
    /ssh HOST true/,
  ],
  ["a host that cannot be reached", "ssh", "unreachable", async () => ssh("exit 255"), /ssh HOST true/],
  [
    "a host without Node",
    "ssh",
    "unsupported",
    async () => ssh(`${MARK}; printf '\\n%s nonode\\n' "$mark"`),
    /install Node/,
  ],
  [
    "a host where nothing can be installed",
    "ssh",
    "program_failed",
    async () => ssh(`${MARK}; printf '\\n%s failed {"reason":"no"}\\n' "$mark"`),
    /~\/\.cache/,
  ],
];

it.each(LINKS)("gives advice for %s", { timeout: 60_000 }, async (_name, kind, code, open, mend) => {
  const environment = createRemoteEnvironment({
    id: "far",
    kind,
    link: await open(),
    initializeTimeoutMs: code === "timeout" ? 300 : 20_000,
  });
  onTestFinished(() => environment.close());
  const found = await checkEnvironment(environment);
  expect(found).toMatchObject({
    id: "far",
    kind,
    ok: false,
    problem: expect.stringMatching(/./),
    mend: expect.stringMatching(mend),
  });
  await expect(environment.connect()).rejects.toMatchObject({ code });
});

it("measures an environment that works", async () => {
  expect(await checkEnvironment(environmentAt(await listen()))).toEqual({
    ...{ id: "remote", kind: "websocket", ok: true, serves: "exec-server" },
    ...{ connectMs: expect.any(Number), roundTripMs: expect.any(Number) },
  });
});
