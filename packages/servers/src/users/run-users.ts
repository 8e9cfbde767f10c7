import { createHash, timingSafeEqual } from "node:crypto";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { answerProbe, boundUnadmitted, followTlsSource, toTlsOptions } from "@codex/channel";
import { watchFiles } from "@codex/plain-file";
import type { Logger } from "@codex/telemetry";
import { messageOf } from "@codex/values";
import { MAX_CREDENTIAL_BYTES } from "../limits.js";
import { CommandError, SERVER_EXIT } from "../process/command-error.js";
import { type TlsArguments, watchTlsIdentity } from "../process/credentials.js";
import { isLoopback, type ListenPlace } from "../process/listen-url.js";
import type { OpenedTelemetry } from "../process/open-telemetry.js";
import { type DrainArguments, openServing } from "../process/serving.js";
import { parseUserFile, type ServedUser } from "./user-file.js";
import { UserServer } from "./user-server.js";

/** Options of a server for several people. */
export interface UsersArguments {
  /** File that maps tokens to operating-system users. */
  users?: string;
}

/**
 * Serves several people, each by a process of its own as the operating-system user of its token: this one, which is root, only finds out whose a
 * connection is, and passes its bytes on.
 * @param role the command of the servers, `executor` or `exec-server`
 */
export async function serveUsers(
  role: string,
  place: ListenPlace,
  options: UsersArguments & TlsArguments & DrainArguments & { allowInsecureListen: boolean },
  { log }: OpenedTelemetry,
): Promise<void> {
  const { users: path = "" } = options;
  if (process.platform !== "linux") throw usage("--users is for Linux: it needs setpriv");
  if (process.getuid?.() !== 0) throw usage("--users needs root: each user is served as an account of its own");
  if (place.kind === "unix") throw usage("--users is for ws://");
  const tls = watchTlsIdentity(options, log);
  if (tls === undefined && !isLoopback(place.host) && !options.allowInsecureListen) {
    throw usage(
      `${place.host} can be reached from other machines, and tokens would be sent in clear text: give --tls-cert and --tls-key, or --allow-insecure-listen`,
    );
  }
  const getUsers = watchFiles({
    paths: [path],
    maxBytes: MAX_CREDENTIAL_BYTES,
    parse: (text) => parseUserFile(path, text),
    log,
  });
  const directory = mkdtempSync(join(tmpdir(), "codex-users-"));
  // Users pass through it to their own directories, and cannot list it.
  chmodSync(directory, 0o711);
  const servers = new Servers({ role, directory, log, getUsers });
  const serving = openServing(log, options, [() => servers.refresh(), tls]);
  let isReady = true;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (answerProbe(request, response, () => isReady)) return;
    void passRequest(request, response, servers);
  };
  const server =
    tls === undefined
      ? createServer(answer)
      : createTlsServer({ ...toTlsOptions(tls), ...ASKS_FOR_CERTIFICATES }, answer);
  if (tls !== undefined) followTlsSource(server as ReturnType<typeof createTlsServer>, tls);
  const { admit } = boundUnadmitted(server);
  const wires = new Set<Duplex>();
  server.on("upgrade", (request, wire: Duplex, head) => {
    wires.add(wire);
    wire.once("close", () => wires.delete(wire)).on("error", () => wire.destroy());
    void passUpgrade(request, { wire, head, admit: () => admit(request.socket) }, servers);
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", (cause) =>
        reject(new CommandError(`cannot listen on ${place.host} port ${place.port}: ${cause.message}`)),
      );
      server.listen(place.fd === undefined ? { host: place.host, port: place.port } : { fd: place.fd }, resolve);
    });
    server.removeAllListeners("error").on("error", () => {}); // such as too many open files: that connection is lost
    const { address, family, port } = server.address() as AddressInfo; // it listens on a port
    serving.announce(`${tls === undefined ? "ws" : "wss"}://${family === "IPv6" ? `[${address}]` : address}:${port}`);
    await serving.stopped;
    isReady = false;
    server.close();
    // Each tells its clients how their programs ended.
    await servers.end();
  } finally {
    for (const wire of wires) wire.destroy();
    server.closeAllConnections();
    serving.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

const usage = (message: string) => new CommandError(message, SERVER_EXIT.usage);

/** Certificates are compared with those of the file: who has issued them does not count. */
const ASKS_FOR_CERTIFICATES = { requestCert: true, rejectUnauthorized: false };

/** The servers of those who are in the file. */
class Servers {
  readonly #options: { role: string; directory: string; log: Logger; getUsers: () => readonly ServedUser[] };
  readonly #servers = new Map<string, UserServer>();

  constructor(options: { role: string; directory: string; log: Logger; getUsers: () => readonly ServedUser[] }) {
    this.#options = options;
  }

  /** Reads the file again where it has changed, and ends the servers of those who are not in it any more. */
  refresh(): readonly ServedUser[] {
    const users = this.#options.getUsers();
    for (const [name, server] of this.#servers) {
      if (users.some((user) => user.name === name && user.account === server.user.account)) continue;
      this.#servers.delete(name);
      this.#options.log.info?.("a user is not served any more", { user: name });
      void server.end();
    }
    return users;
  }

  /** The server of whom a request comes from: by the token, or without one by the certificate. */
  find({ headers, socket }: IncomingMessage): UserServer | undefined {
    const token = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
    const found = token === undefined ? this.#findByCertificate(socket) : this.#findByToken(token);
    if (found === undefined) return undefined;
    const server = this.#servers.get(found.name) ?? new UserServer(found, this.#options);
    // What has changed counts when it is started next.
    server.user = found;
    this.#servers.set(found.name, server);
    return server;
  }

  /** All tokens are compared, in constant time. */
  #findByToken(token: string): ServedUser | undefined {
    const digest = createHash("sha256").update(token).digest();
    let found: ServedUser | undefined;
    for (const user of this.refresh()) {
      if (user.tokenDigest !== undefined && timingSafeEqual(user.tokenDigest, digest)) found = user;
    }
    return found;
  }

  /** The client has shown in the handshake that it has the key of its certificate. */
  #findByCertificate(socket: Socket): ServedUser | undefined {
    const { raw } = socket instanceof TLSSocket ? socket.getPeerCertificate() : { raw: undefined };
    if (raw === undefined) return undefined;
    const digest = createHash("sha256").update(raw).digest("hex");
    return this.refresh().find(({ certificate }) => certificate === digest);
  }

  async end(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), (server) => server.end()));
  }
}

interface Upgrade {
  wire: Duplex;
  head: Buffer;
  admit: () => void;
}

async function passUpgrade(request: IncomingMessage, { wire, head, admit }: Upgrade, servers: Servers): Promise<void> {
  const server = servers.find(request);
  if (server === undefined) return refuse(wire, 401, "neither the bearer token nor the certificate is of anybody");
  let socket: string;
  try {
    socket = await server.getSocket();
  } catch (error) {
    return refuse(wire, 503, messageOf(error));
  }
  if (wire.destroyed) return;
  admit();
  const inner = connect({ path: socket });
  inner.once("error", () => refuse(wire, 503, "the server of this user cannot be reached"));
  wire.once("close", () => inner.destroy());
  inner.once("close", () => wire.destroy());
  const lines = [`${request.method} ${request.url} HTTP/1.1`, ...headerLines(request)];
  inner.write(`${lines.join("\r\n")}\r\n\r\n`);
  inner.write(head);
  wire.pipe(inner).pipe(wire);
}

/** The headers as they came, without the token. */
function headerLines({ rawHeaders }: IncomingMessage): string[] {
  const lines: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (!/^authorization$/i.test(rawHeaders[index] ?? "")) lines.push(`${rawHeaders[index]}: ${rawHeaders[index + 1]}`);
  }
  return lines;
}

/** Pages, such as `/metrics`, are those of the user's own server. */
async function passRequest(request: IncomingMessage, response: ServerResponse, servers: Servers): Promise<void> {
  const fail = (status: number, message: string) => {
    response
      .writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" })
      .end(`${message}\n`);
  };
  const server = servers.find(request);
  if (server === undefined) return fail(401, "neither the bearer token nor the certificate is of anybody");
  if (request.method !== "GET" && request.method !== "HEAD") return fail(405, "expected GET");
  try {
    const socketPath = await server.getSocket();
    const { authorization: _token, ...headers } = request.headers;
    const inner = httpRequest(
      { socketPath, path: request.url, method: request.method, headers: { ...headers, host: "localhost" } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    inner.once("error", () => response.destroy());
    inner.end();
  } catch (error) {
    fail(503, messageOf(error));
  }
}

function refuse(wire: Duplex, status: number, message: string): void {
  if (wire.destroyed) return;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    "Content-Type: text/plain; charset=utf-8",
  ];
  wire.end(`${head.join("\r\n")}\r\nContent-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
}
