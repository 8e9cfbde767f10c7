import { type EventEmitter, once } from "node:events";
import { type IncomingMessage, request as nodeRequest } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "@codex/values";
import { expect, it, onTestFinished } from "vitest";
import { request, type UpgradeOptions } from "../src/websocket-http.js";

const UPGRADE = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n";
const REFUSAL = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 8\r\n\r\nno token";

/** What the server sends, in parts; `end` says that it closes the connection then. */
const responses: [name: string, parts: string[], end?: boolean][] = [
  ["an upgrade", [`${UPGRADE}\r\n`], true],
  ["an upgrade and the first frames", [`${UPGRADE}\r\nframes`], true],
  ["an upgrade, a byte at a time", [...`${UPGRADE}X-A:  b \r\n\r\nframes`], true],
  ["an upgrade without a reason", ["HTTP/1.1 101\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n"], true],
  ["headers twice", [`${UPGRADE}Via: a\r\nvia: b\r\n\r\n`], true],
  ["a header and a reason that are not ASCII", [`${UPGRADE.replace("Switching", "h\xe4")}X-A: h\xe4\r\n\r\n`], true],
  ["an upgrade that is not to the connection", ["HTTP/1.1 101 X\r\nUpgrade: websocket\r\n\r\n"], true],
  ["an upgrade with other words about the connection", [`${UPGRADE}Connection: keep-alive\r\n\r\n`], true],
  ["an empty header", [`${UPGRADE}X-Empty:\r\n\r\n`], true],
  ["a refusal", [REFUSAL]],
  ["a refusal, a byte at a time", [...REFUSAL]],
  ["a refusal that ends with the connection", ["HTTP/1.1 503 Busy\r\n\r\n", "later"], true],
  ["a chunked refusal", ["HTTP/1.1 500 X\r\nTransfer-Encoding: chunked\r\n\r\n", "3\r\nabc\r\n", "0\r\n\r\n"]],
  ["a redirection", ["HTTP/1.1 301 Moved\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n"]],
  ["no response", [], true],
  ["half of a head", [UPGRADE], true],
  ["half of a body", ["HTTP/1.1 401 Unauthorized\r\nContent-Length: 8\r\n\r\nno"], true],
  ["what is not HTTP", ["SSH-2.0-OpenSSH_9.6\r\n"]],
  ["what a TLS server answers", ["\x15\x03\x01\x00\x02\x02\x16"]],
  ["a head without an end", [UPGRADE, `X-Long: ${"a".repeat(20_000)}\r\n`]],
  ["a long head in one part", [`${UPGRADE}X-Long: ${"a".repeat(40_000)}\r\n\r\n`]],
  ["many blanks", [`${UPGRADE}X-Blank:${" ".repeat(15_000)}\x01\r\n\r\n`]],
  ["lines that end with LF alone", ["HTTP/1.1 101 X\nUpgrade: websocket\nConnection: Upgrade\n\n"]],
  ["a malformed header", [`${UPGRADE}no colon\r\n\r\n`]],
];

it.each(responses)("emits what node:http emits: %s", async (_name, parts, end = false) => {
  const port = await serve((socket) => sendParts(socket, parts, end));
  const options = upgradeOptions({ port });
  const expected = await observe(nodeRequest({ ...options, defaultPort: 80 }));
  expect(await observe(request(options))).toEqual(expected);
});

it("sends what node:http sends", async () => {
  const heads: string[] = [];
  const port = await serve((socket, head) => {
    heads.push(head.toString("latin1"));
    socket.end(REFUSAL);
  });
  const variants: Partial<UpgradeOptions>[] = [
    {},
    { path: "/a?b=%20c" },
    { headers: { Connection: "Upgrade", Authorization: "Bearer t0k3n", "Sec-WebSocket-Version": 13 } },
    { host: "::1", createConnection: () => connect(port, "127.0.0.1") },
    { port: 80, createConnection: () => connect(port, "127.0.0.1") },
    { auth: "user:password" },
    { headers: { Connection: "Upgrade", host: "another" } },
    { headers: { Connection: "Upgrade", "X-Latin": "\u00e4" } },
  ];
  for (const variant of variants) {
    const options = upgradeOptions({ port, ...variant });
    await observe(nodeRequest({ ...options, defaultPort: 80 }));
    await observe(request(options));
    const [theirs, ours] = heads.splice(0);
    expect(lines(ours!)).toEqual(lines(theirs!));
  }
});

it.each([
  ["a header", { headers: { Authorization: "Bearer a\r\nX-Injected: b" } }],
  ["a header's name", { headers: { "X-A: b\r\nX-Injected": "c" } }],
  ["a path", { path: "/ HTTP/1.1\r\nX-Injected: b\r\n" }],
])("sends no line that %s smuggles in", async (_name, variant) => {
  const port = await serve(() => expect.unreachable("a request was sent"));
  const options = upgradeOptions({ port, ...variant });
  expect(() => request(options)).toThrow(/Invalid character|must be a valid HTTP token|unescaped characters/);
});

it("reports an upgrade that follows an interim response", async () => {
  const port = await serve((socket) => sendParts(socket, ["HTTP/1.1 103 Early Hints\r\n\r\n", `${UPGRADE}\r\n`], true));
  const seen = await observe(request(upgradeOptions({ port })));
  expect(seen).toMatchObject({ message: "the server's upgrade response cannot be read" });
});

it("says why it cannot connect", async () => {
  const port = await serve(() => {}, { close: true });
  expect(await observe(request(upgradeOptions({ port })))).toMatchObject({ code: "ECONNREFUSED" });
});

it.each([
  ["before a response", []],
  ["within a refusal's body", ["HTTP/1.1 401 Unauthorized\r\nContent-Length: 8\r\n\r\nno"]],
])("closes its connection when it is destroyed, %s", async (_name, parts) => {
  const sockets: Socket[] = [];
  const port = await serve((socket) => {
    sockets.push(socket);
    sendParts(socket, parts, false);
  });
  const upgrade = request(upgradeOptions({ port }));
  upgrade.end();
  if (parts.length > 0) await once(upgrade, "response");
  await expect.poll(() => sockets.length).toBe(1);
  const errors: Error[] = [];
  upgrade.on("error", (error: Error) => errors.push(error));
  const ended = new Promise((resolve) => upgrade.on("close", resolve));
  upgrade.destroy(new Error("not wanted"));
  await ended;
  await expect.poll(() => sockets[0]!.closed).toBe(true);
  expect(errors.map(({ message }) => message)).toEqual(["not wanted"]);
});

function upgradeOptions(options: Partial<UpgradeOptions>): UpgradeOptions {
  return {
    host: "127.0.0.1",
    port: 0,
    path: "/",
    headers: { Connection: "Upgrade", Upgrade: "websocket" },
    createConnection: ({ host, port }) => connect({ port: Number(port), host: host ?? "" }),
    ...options,
  };
}

/** The port of a server that calls `onRequest` with the head of each request. */
async function serve(onRequest: (socket: Socket, head: Buffer) => void, { close = false } = {}): Promise<number> {
  const server = createServer((socket) => {
    onTestFinished(() => void socket.destroy());
    socket.setNoDelay().on("error", () => {});
    socket.once("data", (head) => onRequest(socket, head));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  if (close) server.close();
  else onTestFinished(() => void server.close());
  return port;
}

function sendParts(socket: Socket, [part, ...rest]: string[], end: boolean): void {
  if (part !== undefined) socket.write(part, "latin1", () => setImmediate(() => sendParts(socket, rest, end)));
  else if (end) socket.end();
}

/** Sorted, and in small letters: the order of headers, and the case of their names, mean nothing. */
const lines = (head: string): string[] => head.toLowerCase().split("\r\n").sort();

/** What the request comes to. */
function observe(upgrade: EventEmitter & { end(): unknown }) {
  return new Promise<object>((resolve) => {
    upgrade.on("error", ({ message, code }: NodeJS.ErrnoException) => resolve({ message, code }));
    upgrade.on("upgrade", async ({ headers }: IncomingMessage, socket: Duplex, head: Buffer) =>
      resolve({ headers: { ...headers }, ...(await read(socket, head)) }),
    );
    upgrade.on("response", async (response: IncomingMessage) => {
      const { statusCode, headers } = response;
      resolve({ statusCode, headers, ...(await read(response)) });
    });
    upgrade.end();
  });
}

async function read(source: Duplex | IncomingMessage, head: Buffer = Buffer.alloc(0)) {
  const chunks = [head];
  try {
    for await (const chunk of source) chunks.push(chunk);
  } catch (error) {
    return { bytes: Buffer.concat(chunks).toString(), message: messageOf(error) };
  }
  return { bytes: Buffer.concat(chunks).toString() };
}
